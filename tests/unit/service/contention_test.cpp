// Where other processes hold up the database, or cannot be told what is compiled.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "service_fixture.hpp"
#include "support/crowd.hpp"
#include "support/raw_database.hpp"

namespace kiln::test {
namespace {

using namespace std::chrono_literals;

class Contention : public ServiceTest {};

TEST_F(Contention, ABusyDatabaseDelaysARequestByTheBusyWaitAtMost) {
  ask_anew(1);
  ServiceOptions hasty = options();
  hasty.busy_wait = 300ms;
  for (const char* held : {"BEGIN IMMEDIATE", "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE"}) {
    RawDatabase other(database());
    other.execute(held);
    Service service(hasty);
    for (int n : {2, 3, 4}) {
      const Clock::time_point begin = Clock::now();
      EXPECT_NE(ask(service, n).artifact, nullptr);
      EXPECT_LT(Clock::now() - begin, 3s) << held;
    }
    EXPECT_GE(service.stats().puts_lost, 1U) << held;
  }
  EXPECT_EQ(ask_anew(1), Outcome::disk);
  EXPECT_EQ(ask_anew(9), Outcome::compiled);
  EXPECT_EQ(ask_anew(9), Outcome::disk) << "written again when nobody holds it";
}

TEST_F(Contention, SixteenProcessesAskingForOneKernelCompileOnce) {
  const Crowd crowd = run_crowd(folder_.path(), nvrtc_.library(), 16, 1);
  EXPECT_EQ(crowd.failed, 0) << crowd.said;
  EXPECT_EQ(crowd.artifacts, 16U);
  EXPECT_TRUE(crowd.agree());
  EXPECT_EQ(nvrtc_.compiles(), 1U);
}

// Both had the same kernel compiled: whoever comes second loses nothing by it.
TEST_F(Contention, TwoThatPutTheSameKernelBothSucceed) {
  Service first(options());
  Service second(options());
  ServiceOptions elsewhere = options();
  ask(first, 1);
  RawDatabase(database()).execute("DELETE FROM artifacts");
  EXPECT_EQ(ask(second, 1).outcome, Outcome::compiled);
  RawDatabase(database()).execute("DELETE FROM artifacts");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      ServiceOptions impatient = options();
      impatient.lease_wait = 0ms;
      Service service(impatient);
      EXPECT_NE(ask(service, 1).artifact, nullptr);
      EXPECT_EQ(service.stats().puts_lost, 0U);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(ask_anew(1), Outcome::disk);
  EXPECT_EQ(Service(options()).query(Query{}).size(), 1U);
}

TEST_F(Contention, WithoutALeaseAKernelIsCompiledAndItIsSaidOnce) {
  constexpr uid_t k_other = 54324;
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can put something in another user's way";
  }
  using std::filesystem::perms;
  const std::array files{"/dev/shm/kiln-leases-54324", "/tmp/kiln-leases-54324"};
  std::filesystem::permissions(folder_.path(), perms(0777));
  std::filesystem::permissions(nvrtc_.folder() / "compiles", perms(0666));
  for (const char* file : files) {
    ::unlink(file);
    ASSERT_EQ(::mkfifo(file, 0600), 0);
  }
  std::filesystem::create_directory(folder_ / "theirs");
  ASSERT_EQ(::chown((folder_ / "theirs").c_str(), k_other, k_other), 0);
  std::filesystem::permissions(folder_ / "theirs", perms(0700));
  std::filesystem::permissions(folder_.path(), perms(0755));
  const int status = ChildProcess([&] {
                       if (::setresuid(k_other, k_other, k_other) != 0) {
                         return 1;
                       }
                       ServiceOptions options = this->options();
                       options.cache_dir = folder_ / "theirs";
                       Service service(options);
                       const bool well = ask(service, 1).outcome == Outcome::compiled &&
                                         ask(service, 2).outcome == Outcome::compiled &&
                                         ask(Service(options), 1).outcome == Outcome::disk;
                       return well && messages_.count() == 1 && messages_.count_with("kiln-leases-54324") == 1 ? 0 : 2;
                     }).wait();
  for (const char* file : files) {
    ::unlink(file);
  }
  EXPECT_EQ(status, 0);
}

TEST_F(Contention, WhatALayerCostsIsTold) {
  ask_anew(1);
  Service service(options());
  ASSERT_EQ(ask(service, 1).outcome, Outcome::disk);
  const LayerStats user = service.stats().layers.at(0);
  EXPECT_GT(user.open_us, 0.0);
  EXPECT_GT(user.hit_us, 0.0);
  EXPECT_LT(user.hit_us, 1e6);
  Service idle(options());
  EXPECT_EQ(idle.stats().layers.at(0).hit_us, 0.0);
}

}  // namespace
}  // namespace kiln::test
