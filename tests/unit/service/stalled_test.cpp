// One process compiles and dies or stalls while others want the same kernel.
#include <gtest/gtest.h>

#include <thread>

#include "service_fixture.hpp"

namespace kiln::test {
namespace {

using namespace std::chrono_literals;

class Stalled : public ServiceTest {
 protected:
  /// A process in the middle of compiling kernel `n`.
  ChildProcess compiler_of(int n) {
    nvrtc_.hold();
    const std::size_t before = nvrtc_.compiles();
    ChildProcess child([this, n] { return ask(Service(options()), n).outcome == Outcome::compiled ? 0 : 1; });
    EXPECT_TRUE(nvrtc_.begins(before + 1));
    return child;
  }
};

TEST_F(Stalled, AKilledCompilerIsReplacedAtOnce) {
  ChildProcess child = compiler_of(1);
  child.kill(SIGSTOP);  // so that it gets no further, though nothing holds it up any more
  nvrtc_.release();
  const Clock::time_point begin = Clock::now();
  std::thread killer([&] {
    std::this_thread::sleep_for(200ms);
    child.kill(SIGKILL);
  });
  Service service(options());
  EXPECT_EQ(ask(service, 1).outcome, Outcome::compiled);
  const auto took = Clock::now() - begin;
  killer.join();
  EXPECT_GE(took, 200ms);
  EXPECT_LT(took, 3s);
  EXPECT_EQ(nvrtc_.compiles(), 2U);
  EXPECT_EQ(service.stats().lease_waits, 1U);
  EXPECT_EQ(service.stats().lease_timeouts, 0U);
  EXPECT_EQ(ask_anew(1), Outcome::disk);
}

TEST_F(Stalled, AStoppedCompilerDelaysByTheLeaseWait) {
  ChildProcess child = compiler_of(1);
  child.kill(SIGSTOP);
  nvrtc_.release();
  ServiceOptions hasty = options();
  hasty.lease_wait = 300ms;
  Service service(hasty);
  const Clock::time_point begin = Clock::now();
  EXPECT_EQ(ask(service, 1).outcome, Outcome::compiled);
  const auto took = Clock::now() - begin;
  EXPECT_GE(took, 300ms);
  EXPECT_LT(took, 3s);
  EXPECT_EQ(service.stats().lease_timeouts, 1U);
  EXPECT_EQ(ask_anew(1), Outcome::disk) << "the row is there, whoever wrote it";

  child.kill(SIGCONT);
  EXPECT_EQ(child.wait(), 0) << "who was stopped ends well";
  EXPECT_EQ(nvrtc_.compiles(), 2U);
  EXPECT_EQ(ask_anew(1), Outcome::disk);
  EXPECT_EQ(Service(options()).query(Query{}).size(), 1U);
}

TEST_F(Stalled, WhatSuchCompilesTookBoundsTheWait) {
  ask_anew(0);  // takes no time, and is remembered
  ChildProcess child = compiler_of(1);
  child.kill(SIGSTOP);
  nvrtc_.release();
  const ServiceOptions patient = options();
  ASSERT_EQ(patient.lease_wait, 30s);
  Service service(patient);
  const Clock::time_point begin = Clock::now();
  EXPECT_EQ(ask(service, 1).outcome, Outcome::compiled);
  const auto took = Clock::now() - begin;
  EXPECT_GE(took, 5s) << "the least that others get";
  EXPECT_LT(took, 15s);
  child.kill(SIGCONT);
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(Stalled, WhoeverFindsTheKernelAfterTheWaitDoesNotCompile) {
  ChildProcess child = compiler_of(1);
  std::thread other([&] {
    std::this_thread::sleep_for(100ms);
    nvrtc_.release();
  });
  Service service(options());
  EXPECT_EQ(ask(service, 1).outcome, Outcome::disk);
  other.join();
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(nvrtc_.compiles(), 1U);
  EXPECT_EQ(service.stats().lease_waits, 1U);
}

TEST_F(Stalled, OtherKernelsAreNotHeldUp) {
  ServiceOptions patient = options();
  ChildProcess child = compiler_of(1);
  child.kill(SIGSTOP);
  nvrtc_.release();
  Service service(patient);
  const Clock::time_point begin = Clock::now();
  EXPECT_EQ(ask(service, 2).outcome, Outcome::compiled);
  EXPECT_LT(Clock::now() - begin, 2s);
  child.kill(SIGCONT);
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace kiln::test
