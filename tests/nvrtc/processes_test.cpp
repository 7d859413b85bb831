// Many processes with the real compiler.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "kiln/service.hpp"
#include "support/crowd.hpp"
#include "support/sample_template.hpp"
#include "support/temp_dir.hpp"

namespace kiln::test {
namespace {

TEST(NvrtcProcesses, SixtyFourAskingForTwoHundredKernelsCompileEachOnce) {
#ifdef KILN_SMALL_CROWD
  constexpr int k_processes = 16;
#else
  constexpr int k_processes = 64;
#endif
  const TempDir folder;
  const Crowd crowd = run_crowd(folder.path(), {}, k_processes, 200);
  EXPECT_EQ(crowd.failed, 0) << crowd.said;
  EXPECT_EQ(crowd.artifacts, k_processes * 200U);
  EXPECT_EQ(crowd.digests.size(), 200U);
  EXPECT_TRUE(crowd.agree());
  EXPECT_EQ(crowd.compiles, 200U) << crowd.lease_timeouts << " of " << crowd.lease_waits
                                  << " waits for a lease timed out";
  EXPECT_EQ(crowd.puts_lost, 0U);
  EXPECT_EQ(crowd.corrupt_dropped, 0U);
  EXPECT_EQ(crowd.said, "");
}

// A child inherits what the compiler had locked in other threads.
TEST(NvrtcProcesses, AForkWhileAThreadCompilesLeavesBothWorking) {
  const TempDir folder;
  ServiceOptions options;
  options.cache_dir = folder / "cache";
  Service service(options);
  const Template sample = sample_template();
  const Target target = Target::parse("sm_80");
  std::atomic<bool> stop{false};
  std::thread compiling([&] {
    for (int n = 1000; !stop; ++n) {
      service.find_or_compile(sample, {{"n", n}}, target);
    }
  });
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(ChildProcess([&] {
                ::alarm(60);  // rather than wait for ever
                return service.find_or_compile(sample, {{"n", i}}, target).artifact != nullptr ? 0 : 1;
              }).wait(),
              0);
  }
  stop = true;
  compiling.join();
  EXPECT_EQ(service.stats().puts_lost, 0U);
}

}  // namespace
}  // namespace kiln::test
