#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "kiln/error.hpp"
#include "kiln/service.hpp"
#include "support/child_process.hpp"
#include "support/fake_nvrtc.hpp"
#include "support/files.hpp"
#include "support/messages.hpp"
#include "support/sample_template.hpp"
#include "support/temp_dir.hpp"

namespace kiln::test {

using Clock = std::chrono::steady_clock;

/// A service with a compiler of its own and a cache that is empty at first.
class ServiceTest : public ::testing::Test {
 protected:
  ServiceOptions options() {
    ServiceOptions options;
    options.cache_dir = folder_ / "cache";
    options.nvrtc = nvrtc_.library();
    options.log = messages_.callback();
    return options;
  }
  std::filesystem::path database() const { return folder_ / "cache" / "kiln.db"; }
  std::filesystem::path beside(const char* suffix) const { return database().string() + suffix; }

  /// Kernel number `n`, however it is come by.
  Lookup ask(const Service& service, int n) const { return service.find_or_compile(sample_, {{"n", n}}, target_); }
  /// How a service of its own comes by it.
  Outcome ask_anew(int n) { return ask(Service(options()), n).outcome; }

  TempDir folder_;
  FakeNvrtc nvrtc_{folder_ / "nvrtc"};
  Messages messages_;
  Template sample_ = sample_template();
  Target target_ = Target::parse("sm_80");
};

}  // namespace kiln::test
