#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "gpu/kernel_fixture.hpp"
#include "jit/driver.hpp"
#include "jit/launch.hpp"
#include "kiln/error.hpp"

namespace kiln {
namespace {

using test::DeviceArray;
using test::GpuStream;
using test::require;

// Made before the driver is opened, so destroyed after it was shut down.
std::optional<Kernel> g_held_too_long;

// Exits, forks and resets: each test that leaves the process in another state runs in one of its own.
class LifetimeDeathTest : public test::KernelTest {
 protected:
  LifetimeDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(LifetimeDeathTest, AProcessMayExitWithKernelsAlive) {
  EXPECT_EXIT(
      {
        g_held_too_long = get_scale(2.0F);
        static Kernel held = get_scale(3.0F);
        std::exit(run(held) == times(3.0F, ramp(1000)) ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(LifetimeDeathTest, TheChildOfAForkIsToldAndEndsCleanly) {
  EXPECT_EXIT(
      {
        Kernel kernel = get_scale(2.0F);
        pid_t child = fork();
        if (child == 0) {
          int status = 1;
          try {
            kernel.launch({}, static_cast<float*>(nullptr), static_cast<const float*>(nullptr), 0U);
          } catch (const Error& error) {
            status = error.code() == ErrorCode::driver_unavailable ? 0 : 2;
          }
          std::exit(status);  // with destructors and exit handlers
        }
        int status = -1;
        waitpid(child, &status, 0);
        bool parent_works = run(kernel) == times(2.0F, ramp(1000));
        std::exit(status == 0 && parent_works ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(LifetimeDeathTest, AResetContextGetsItsOwnKernel) {
  EXPECT_EXIT(
      {
        std::optional<Kernel> before = get_scale(2.0F);
        bool good = run(*before) == times(2.0F, ramp(1000));
        for (int i = 0; i < 3; ++i) {
          gpu().reset_primary_context();
          good = good && run(get_scale(2.0F)) == times(2.0F, ramp(1000));
        }
        before.reset();  // after its context is gone
        good = good && run(get_scale(2.0F)) == times(2.0F, ramp(1000));
        std::exit(good ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(LifetimeDeathTest, AKernelMayOutliveItsContext) {
  EXPECT_EXIT(
      {
        {
          CUctx_st* context = nullptr;
          require(cuda().context_create(&context, 0, 0), "cuCtxCreate");
          Service own(options());
          Kernel kernel = own.get(scale(), {{"factor", 4.0F}});
          require(cuda().context_destroy(context), "cuCtxDestroy");
        }
        gpu().make_current();
        std::exit(run(get_scale(2.0F)) == times(2.0F, ramp(1000)) ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

class LifetimeTest : public test::KernelTest {};

TEST_F(LifetimeTest, EachContextHasItsOwnKernel) {
  Kernel first = get_scale(2.0F);
  CUctx_st* context = nullptr;
  require(cuda().context_create(&context, 0, 0), "cuCtxCreate");
  EXPECT_EQ(run(get_scale(2.0F)), times(2.0F, ramp(1000)));
  EXPECT_NE(get_scale(2.0F).function(), first.function());
  try {
    run(first);
    FAIL() << "a kernel was launched in a context that is not its own";
  } catch (const DriverError& error) {
    EXPECT_THAT(error.object(), ::testing::HasSubstr("context it was made for")) << error.what();
  }
  require(cuda().context_destroy(context), "cuCtxDestroy");
  gpu().make_current();
  EXPECT_EQ(run(first), times(2.0F, ramp(1000)));
}

TEST_F(LifetimeTest, EachDeviceHasItsOwnKernel) {
  if (gpu().device_count() < 2) {
    GTEST_SKIP() << "needs two GPUs";
  }
  Kernel first = get_scale(2.0F);
  CUctx_st* other = nullptr;
  require(cuda().primary_retain(&other, 1), "cuDevicePrimaryCtxRetain");
  require(cuda().set_current(other), "cuCtxSetCurrent");
  EXPECT_EQ(run(get_scale(2.0F)), times(2.0F, ramp(1000)));
  gpu().make_current();
  EXPECT_EQ(run(first), times(2.0F, ramp(1000)));
  require(cuda().primary_release(1), "cuDevicePrimaryCtxRelease");
}

TEST_F(LifetimeTest, TheCurrentContextIsNeverChanged) {
  CUctx_st* context = nullptr;
  require(cuda().context_create(&context, 0, 0), "cuCtxCreate");
  auto artifact = std::make_shared<const Artifact>(get_scale(2.0F).artifact());
  auto kernels = jit::load(jit::Driver::open(), artifact, "", {});
  gpu().make_current();
  kernels.clear();  // unloads in the other context
  CUctx_st* current = nullptr;
  require(cuda().get_current(&current), "cuCtxGetCurrent");
  EXPECT_EQ(current, gpu().context());
  require(cuda().context_destroy(context), "cuCtxDestroy");
  gpu().make_current();
}

TEST_F(LifetimeTest, AKernelReleasedWhileItRunsFinishes) {
  Template slow = Template::from_text("slow.cu",
                                      "// kiln: entry slow\n"
                                      "__global__ void slow(unsigned* y) {\n"
                                      "  long long begin = clock64();\n"
                                      "  while (clock64() - begin < 100000000) {}\n"
                                      "  *y = 7;\n"
                                      "}\n");
  auto artifact = std::make_shared<const Artifact>(service.get(slow, {}).artifact());
  DeviceArray<unsigned> y(std::vector<unsigned>{0});
  for (bool non_blocking : {false, true}) {
    GpuStream stream(non_blocking);
    y.write({0});
    LaunchConfig config;
    config.stream = stream.get();
    Kernel(jit::load(jit::Driver::open(), artifact, "", {}).at(0)).launch(config, y.get());
    stream.synchronize();
    EXPECT_EQ(y.read(), std::vector<unsigned>{7});
  }
}

}  // namespace
}  // namespace kiln
