// Many processes on one cache that is empty at first.
#include <gtest/gtest.h>

#include "support/crowd.hpp"
#include "support/fake_nvrtc.hpp"
#include "support/temp_dir.hpp"

namespace kiln::test {
namespace {

TEST(Processes, SixtyFourAskingForTwoHundredKernelsCompileEachOnce) {
  constexpr int k_processes = 64;
  constexpr int k_keys = 200;
  const TempDir folder;
  const FakeNvrtc nvrtc(folder / "nvrtc");
  nvrtc.take(std::chrono::milliseconds(5));
  const Crowd crowd = run_crowd(folder.path(), nvrtc.library(), k_processes, k_keys);
  EXPECT_EQ(crowd.failed, 0) << crowd.said;
  EXPECT_EQ(crowd.artifacts, 12800U);
  EXPECT_EQ(crowd.digests.size(), 200U);
  EXPECT_TRUE(crowd.agree());
  EXPECT_EQ(nvrtc.compiles(), 200U);
  EXPECT_EQ(crowd.compiles, 200U);
  EXPECT_EQ(crowd.puts_lost, 0U);
  EXPECT_EQ(crowd.corrupt_dropped, 0U);
  EXPECT_EQ(crowd.said, "");
}

}  // namespace
}  // namespace kiln::test
