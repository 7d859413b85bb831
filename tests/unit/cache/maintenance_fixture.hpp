#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "cache/layered_store.hpp"
#include "kiln/error.hpp"
#include "kiln/maintenance.hpp"
#include "support/files.hpp"
#include "support/raw_database.hpp"
#include "support/sample_artifact.hpp"
#include "support/temp_dir.hpp"

namespace kiln::cache {

/// A user cache of its own for each test.
class MaintenanceTest : public ::testing::Test {
 protected:
  MaintenanceTest() { options_.cache_dir = root_ / "cache"; }

  static void fill(const ServiceOptions& options, std::uint64_t first, std::uint64_t count,
                   std::size_t image_bytes = 3000) {
    LayeredStore store(options);
    for (std::uint64_t number = first; number < first + count; ++number) {
      ASSERT_TRUE(store.put(test::sample_artifact(number, image_bytes)));
    }
  }
  void fill(std::uint64_t count) { fill(options_, 1, count); }

  static std::optional<Artifact> get(const ServiceOptions& options, std::uint64_t number) {
    const auto wanted = test::sample_artifact(number);
    LayeredStore store(options);
    auto hit = store.get(wanted.key, wanted.spec, [&] { return wanted.compiler; });
    return hit ? std::optional(std::move(hit->artifact)) : std::nullopt;
  }
  bool has(std::uint64_t number) const { return get(options_, number).has_value(); }

  std::filesystem::path database() const { return *options_.cache_dir / "kiln.db"; }
  std::string key_sql(std::uint64_t number) const { return "x'" + test::sample_artifact(number).key.text() + "'"; }

  const test::TempDir root_;
  ServiceOptions options_;
};

}  // namespace kiln::cache
