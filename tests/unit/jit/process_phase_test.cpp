#include "jit/process_phase.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "jit/launch.hpp"
#include "kiln/error.hpp"
#include "unit/jit/fake_driver.hpp"

namespace kiln::jit {
namespace {

using test::make_artifact;

// Made before the driver is opened, so destroyed after it was shut down.
std::vector<std::shared_ptr<const LoadedKernel>> g_held_too_long;

// Each runs in a process of its own: the fake ends it with a status of its own when it is called at a wrong time.
class ProcessPhaseDeathTest : public test::FakeDriverTest {
 protected:
  ProcessPhaseDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  auto load() const { return jit::load(open(), make_artifact("sm_90"), "", {}); }
};

TEST_F(ProcessPhaseDeathTest, NothingIsUnloadedAfterTheDriverIsShutDown) {
  EXPECT_EXIT(
      {
        g_held_too_long = load();
        std::exit(fake.images == 1 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(ProcessPhaseDeathTest, AKernelThatDiesBeforeIsUnloaded) {
  EXPECT_EXIT(
      {
        static std::vector<std::shared_ptr<const LoadedKernel>> held = load();
        std::exit(fake.images == 1 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(ProcessPhaseDeathTest, ALaunchDuringExitIsRefusedNotMade) {
  EXPECT_EXIT(
      {
        std::atexit([] {
          try {
            Kernel(g_held_too_long.at(0)).launch({}, 1.5, 7);
          } catch (const Error& error) {
            _exit(error.code() == ErrorCode::driver_unavailable ? 7 : 8);
          }
          _exit(9);
        });
        g_held_too_long = load();
        std::exit(0);
      },
      ::testing::ExitedWithCode(7), "");
}

int status_of_child(int (*function)()) {
  pid_t child = fork();
  if (child == 0) {
    _exit(function());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_F(ProcessPhaseDeathTest, TheChildOfAForkNeverCallsTheDriver) {
  EXPECT_EXIT(
      {
        g_held_too_long = load();
        int status = status_of_child([] {
          int refused = 0;
          try {
            Kernel(g_held_too_long.at(0)).launch({}, 1.5, 7);
          } catch (const Error& error) {
            refused += error.code() == ErrorCode::driver_unavailable ? 1 : 0;
          }
          try {
            Driver::open_files({test::k_fake_cuda});
          } catch (const Error& error) {
            refused += std::string(error.what()).find("forked") != std::string::npos ? 1 : 0;
          }
          g_held_too_long.clear();
          return refused == 2 ? 7 : 1;
        });
        bool parent_works = fake.images == 1 && Driver::usable();
        g_held_too_long.clear();
        std::exit(status == 7 && parent_works && fake.images == 0 ? 0 : status);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(ProcessPhaseDeathTest, AForkBeforeTheDriverIsOpenedIsHarmless) {
  EXPECT_EXIT(std::exit(status_of_child([] { return Driver::open_files({test::k_fake_cuda}) != nullptr ? 0 : 1; })),
              ::testing::ExitedWithCode(0), "");
}

TEST_F(ProcessPhaseDeathTest, AFailedOpenDoesNotTaintAFork) {
  EXPECT_EXIT(
      {
        try {
          Driver::open_files({"/nonexistent/libcuda.so.1"});
        } catch (const Error&) {
        }
        std::exit(status_of_child([] { return Driver::open_files({test::k_fake_cuda}) != nullptr ? 0 : 1; }));
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kiln::jit
