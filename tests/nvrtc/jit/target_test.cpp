#include <algorithm>
#include <string>

#include "kiln/error.hpp"
#include "nvrtc/jit/nvrtc_test.hpp"

namespace kiln::jit {
namespace {

class Targets : public NvrtcTest {
 protected:
  bool has(const char* text) const {
    const std::vector<Target>& all = nvrtc_->supported();
    return std::find(all.begin(), all.end(), Target::parse(text)) != all.end();
  }
  std::string refusal(const char* text) const {
    try {
      return "resolved to " + nvrtc_->resolve(Target::parse(text)).text();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported_target);
      return error.what();
    }
  }
};

TEST_P(Targets, EveryListedOneCompiles) {
  for (const Target& target : nvrtc_->supported()) {
    SCOPED_TRACE(target.text());
    Artifact artifact = compile("// kiln: entry k\n__global__ void k() {}\n", {}, target);
    EXPECT_EQ(artifact.target, target);
    EXPECT_EQ(nvrtc_->resolve(target), target);
    Target ptx = Target::ptx(target.capability(), target.suffix());
    EXPECT_EQ(nvrtc_->resolve(ptx), ptx);
    EXPECT_EQ(compile("// kiln: entry k\n__global__ void k() {}\n", {}, ptx).kind, ImageKind::ptx);
  }
}

TEST_P(Targets, NoSuffixIsLeftOut) {
  // What is not listed must not compile either, or it would be refused for nothing.
  std::vector<Target> all = nvrtc_->supported();
  for (const Target& target : all) {
    for (char suffix : {'a', 'f'}) {
      Target other = Target::cubin(target.capability(), suffix);
      if (std::find(all.begin(), all.end(), other) == all.end()) {
        EXPECT_THROW(compile("// kiln: entry k\n__global__ void k() {}\n", {}, other), CompileError) << other.text();
      }
    }
  }
}

TEST_P(Targets, AreSortedAndKnowTheirVariants) {
  EXPECT_TRUE(std::is_sorted(nvrtc_->supported().begin(), nvrtc_->supported().end()));
  EXPECT_TRUE(has("sm_80"));
  EXPECT_FALSE(has("sm_80a"));
  EXPECT_TRUE(has("sm_90"));
  EXPECT_EQ(has("sm_90a"), at_least(12, 0));
  EXPECT_FALSE(has("sm_90f"));
  EXPECT_EQ(has("sm_100f"), at_least(12, 9));
}

TEST_P(Targets, ANewerGpuGetsPtxOfTheHighestKnown) {
  Target resolved = nvrtc_->resolve(Target::parse("sm_150"));
  EXPECT_EQ(resolved, Target::ptx(nvrtc_->supported().back().capability()));
  EXPECT_EQ(compile("// kiln: entry k\n__global__ void k() {}\n", {}, resolved).kind, ImageKind::ptx);
}

TEST_P(Targets, AGpuThatCameLateGetsPtxOfTheNextLower) {
  if (has("sm_88")) {
    GTEST_SKIP() << "this NVRTC knows sm_88";
  }
  EXPECT_EQ(nvrtc_->resolve(Target::parse("sm_88")), Target::ptx(87));
}

TEST_P(Targets, OthersAreRefusedWithTheSupportedOnes) {
  for (const char* text : {"sm_10", "sm_85", "sm_80a", "sm_150a", "compute_150", "compute_85", "sm_90f"}) {
    std::string message = refusal(text);
    EXPECT_NE(message.find("target " + std::string(text) + " is not among"), std::string::npos) << message;
    EXPECT_NE(message.find("sm_80 "), std::string::npos) << message;
  }
  EXPECT_THROW(nvrtc_->resolve(Target::native()), Error);
}

KILN_NVRTC_SUITE(Targets);

}  // namespace
}  // namespace kiln::jit
