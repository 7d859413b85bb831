#include "support/fork_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace kiln::support {
namespace {

using std::chrono::milliseconds;

TEST(ForkGate, ShutsOnceAllHaveLeft) {
  ForkGate gate;
  EXPECT_TRUE(gate.shut(milliseconds(0)));
  gate.open(false);
  gate.enter();
  EXPECT_FALSE(gate.shut(milliseconds(1)));
  gate.open(false);
  gate.leave();
  EXPECT_TRUE(gate.shut(milliseconds(0)));
  gate.open(false);
}

TEST(ForkGate, NobodyIsInsideInTheChild) {
  ForkGate gate;
  gate.enter();
  EXPECT_FALSE(gate.shut(milliseconds(1)));
  gate.open(true);
  EXPECT_TRUE(gate.shut(milliseconds(0)));
  gate.open(true);
}

/// Threads that come and go, so that there is always one inside, must not keep the thread that forks waiting.
TEST(ForkGate, IsEnteredByNobodyWhileItIsWaitedFor) {
  ForkGate gate;
  std::atomic<bool> shut{false};
  std::atomic<bool> may_open{false};
  std::atomic<bool> entered{false};
  gate.enter();
  std::thread forks([&] {
    shut = gate.shut(std::chrono::seconds(20));
    while (!may_open) {
      std::this_thread::yield();
    }
    gate.open(false);
  });
  std::this_thread::sleep_for(milliseconds(50));  // it waits by now, for this thread
  std::thread comes([&] {
    gate.enter();
    entered = true;
    gate.leave();
  });
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_FALSE(entered);
  gate.leave();
  while (!shut) {
    std::this_thread::yield();
  }
  EXPECT_FALSE(entered);
  may_open = true;
  forks.join();
  comes.join();
  EXPECT_TRUE(entered);
}

}  // namespace
}  // namespace kiln::support
