// Many processes on one cache that is empty at first, with the real compiler.
#include <gtest/gtest.h>

#include "support/crowd.hpp"
#include "support/temp_dir.hpp"

namespace kiln::test {
namespace {

TEST(NvrtcProcesses, SixtyFourAskingForTwoHundredKernelsCompileEachOnce) {
  const TempDir folder;
  const Crowd crowd = run_crowd(folder.path(), {}, 64, 200);
  EXPECT_EQ(crowd.failed, 0) << crowd.said;
  EXPECT_EQ(crowd.artifacts, 12800U);
  EXPECT_EQ(crowd.digests.size(), 200U);
  EXPECT_TRUE(crowd.agree());
  EXPECT_EQ(crowd.compiles, 200U) << crowd.lease_timeouts << " of " << crowd.lease_waits
                                  << " waits for a lease timed out";
  EXPECT_EQ(crowd.puts_lost, 0U);
  EXPECT_EQ(crowd.corrupt_dropped, 0U);
  EXPECT_EQ(crowd.said, "");
}

}  // namespace
}  // namespace kiln::test
