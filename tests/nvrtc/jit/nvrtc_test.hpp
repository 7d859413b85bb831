#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "jit/nvrtc.hpp"
#include "kiln/source.hpp"

namespace kiln::jit {

/// The NVRTC libraries to test with: the one Kiln finds, and the files in KILN_TEST_NVRTC (separated by ':'), for other
/// versions. One version a process is opened by most users; several at once must work too.
inline std::vector<std::string> nvrtc_files() {
  std::vector<std::string> files;
  if (auto found = find_nvrtc({}).found) {
    files.push_back(found->path.string());
  }
  std::string more = std::getenv("KILN_TEST_NVRTC") != nullptr ? std::getenv("KILN_TEST_NVRTC") : "";
  while (!more.empty()) {
    std::size_t end = more.find(':');
    files.push_back(more.substr(0, end));
    more.erase(0, end == std::string::npos ? more.size() : end + 1);
  }
  return files;
}

/// Runs once with each of them.
class NvrtcTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { nvrtc_ = Nvrtc::open(find_nvrtc(GetParam())); }

  bool at_least(int major, int minor) const {
    Compiler compiler = nvrtc_->identity();
    return std::pair(compiler.major, compiler.minor) >= std::pair(major, minor);
  }
  Artifact compile(const Template& tmpl, const Values& values = {}, const Target& target = Target::cubin(80)) const {
    Source source = instantiate(tmpl, values);
    return nvrtc_->compile(source, target, compile_arguments(source, target));
  }
  Artifact compile(const std::string& text, TemplateOptions options = {},
                   const Target& target = Target::cubin(80)) const {
    return compile(Template::from_text("test.cu", text, std::move(options)), {}, target);
  }
  std::shared_ptr<const Nvrtc> nvrtc_;
};

inline std::string library_number(const testing::TestParamInfo<std::string>& tested) {
  return "library" + std::to_string(tested.index);
}

#define KILN_NVRTC_SUITE(name)                         \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(name); \
  INSTANTIATE_TEST_SUITE_P(All, name, testing::ValuesIn(nvrtc_files()), library_number)

}  // namespace kiln::jit
