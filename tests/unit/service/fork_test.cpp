// A service in the child of a fork, and in the parent.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "kiln/maintenance.hpp"
#include "service_fixture.hpp"
#include "support/raw_database.hpp"

namespace kiln::test {
namespace {

using namespace std::chrono_literals;

class ServiceAfterFork : public ServiceTest {
 protected:
  /// 0 if the child of a fork finds kernel `old`, compiles and keeps kernel `fresh`, and finds that again.
  int use_in_child(const Service& service, int old, int fresh) {
    if (ask(service, old).outcome != Outcome::disk) {
      return 1;
    }
    const Outcome outcome = ask(service, fresh).outcome;
    if (outcome != Outcome::compiled && outcome != Outcome::disk) {
      return 2;
    }
    if (ask(service, fresh).outcome != Outcome::memory) {
      return 3;
    }
    const Stats stats = service.stats();
    if (stats.puts_lost != 0 || stats.degraded != 0 || stats.corrupt_dropped != 0) {
      return 4;
    }
    return ask(Service(options()), fresh).outcome == Outcome::disk ? 0 : 5;
  }
};

TEST_F(ServiceAfterFork, ChildAndParentGoOn) {
  Service service(options());
  ASSERT_EQ(ask(service, 1).outcome, Outcome::compiled);
  ChildProcess child([&] { return use_in_child(service, 1, 2); });
  EXPECT_EQ(ask(service, 1).outcome, Outcome::memory);
  EXPECT_EQ(ask(service, 3).outcome, Outcome::compiled);
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(ask(service, 2).outcome, Outcome::disk) << "what the child compiled";
  EXPECT_EQ(service.stats().puts, 2U);
  EXPECT_EQ(service.stats().puts_lost, 0U);
  EXPECT_EQ(RawDatabase(database()).integrity(), "ok");
}

TEST_F(ServiceAfterFork, AGrandchildToo) {
  Service service(options());
  ASSERT_EQ(ask(service, 1).outcome, Outcome::compiled);
  ChildProcess child([&] {
    const int status = use_in_child(service, 1, 2);
    return status != 0 ? status : ChildProcess([&] { return use_in_child(service, 2, 3); }).wait();
  });
  EXPECT_EQ(child.wait(), 0);
}

// The child has none of the parent's threads: neither their locks nor the flights they are in may be waited for.
TEST_F(ServiceAfterFork, WhileAnotherThreadCompiles) {
  Service service(options());
  ask(service, 1);
  nvrtc_.hold();
  std::thread compiling([&] { EXPECT_EQ(ask(service, 2).outcome, Outcome::compiled); });
  ASSERT_TRUE(nvrtc_.begins(2));
  std::thread releasing([&] {
    std::this_thread::sleep_for(200ms);
    nvrtc_.release();
  });
  const Clock::time_point begin = Clock::now();
  ChildProcess child([&] { return use_in_child(service, 1, 2); });  // the very kernel that the thread is compiling
  EXPECT_GE(Clock::now() - begin, 150ms) << "the fork waits, since NVRTC would not survive it";
  EXPECT_EQ(child.wait(), 0);
  compiling.join();
  releasing.join();
  EXPECT_EQ(ask_anew(2), Outcome::disk);
}

TEST_F(ServiceAfterFork, InTheMiddleOfALongCompileTheChildIsToldSo) {
  Service service(options());
  ask(service, 1);
  nvrtc_.hold();
  std::thread compiling([&] { EXPECT_EQ(ask(service, 2).outcome, Outcome::compiled); });
  ASSERT_TRUE(nvrtc_.begins(2));
  const Clock::time_point begin = Clock::now();
  ChildProcess child([&] {
    if (ask(service, 1).outcome != Outcome::disk) {
      return 1;
    }
    try {
      ask(service, 3);
      return 2;
    } catch (const Error& error) {
      return error.code() == ErrorCode::nvrtc_unavailable &&
                     std::string(error.what()).find("forked") != std::string::npos
                 ? 0
                 : 3;
    }
  });
  EXPECT_LT(Clock::now() - begin, 20s) << "a fork is not held up for longer than ten seconds";
  EXPECT_EQ(child.wait(), 0);
  nvrtc_.release();
  compiling.join();
  EXPECT_EQ(ask(service, 3).outcome, Outcome::compiled) << "the parent is as it was";
}

TEST_F(ServiceAfterFork, AgainAndAgainWhileThreadsAskAndQuery) {
  Service service(options());
  ask(service, 0);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 2; ++thread) {
    threads.emplace_back([&, thread] {
      for (int n = 1000 * (thread + 1); !stop; ++n) {
        wrong += ask(service, n).outcome == Outcome::compiled ? 0 : 1;
        wrong += ask(Service(options()), n).outcome == Outcome::disk ? 0 : 1;
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) {
      service.query(Query{});
      service.stats();
    }
  });
  for (int i = 1; i <= 20; ++i) {
    EXPECT_EQ(ChildProcess([&] {
                ::alarm(60);  // rather than wait for ever
                return use_in_child(service, 0, i);
              }).wait(),
              0);
  }
  stop = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(service.stats().puts_lost, 0U);
  EXPECT_EQ(service.stats().corrupt_dropped, 0U);
  EXPECT_EQ(RawDatabase(database()).integrity(), "ok");
}

// The child continues the very listing that SQLite has locks for: it must do without the cache.
TEST_F(ServiceAfterFork, InTheMiddleOfAListing) {
  Service service(options());
  ask(service, 1);
  ask(service, 2);
  int status = -1;
  std::size_t listed = 0;
  service.query({}, [&](const Entry&) {
    if (listed++ == 0) {
      status = ChildProcess([&] {
                 const std::size_t said = messages_.count();
                 const bool served = ask(service, 1).artifact != nullptr && ask(service, 3).artifact != nullptr;
                 return served && messages_.count() == said + 1 ? 0 : 1;
               }).wait();
    }
    return true;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(listed, 2U);
  EXPECT_EQ(ask(service, 4).outcome, Outcome::compiled);
  EXPECT_EQ(ask_anew(4), Outcome::disk);
  EXPECT_EQ(RawDatabase(database()).integrity(), "ok");
}

TEST_F(ServiceAfterFork, WhileAnotherThreadLooksAfterTheCache) {
  Service service(options());
  for (int n = 0; n < 20; ++n) {
    ask(service, n);
  }
  std::atomic<bool> stop{false};
  std::thread maintenance([&] {
    while (!stop) {
      verify(options());
      trim(options(), {.max_bytes = 1 << 20});
      export_cache(options(), folder_ / "made.kilnpack");
      import_cache(options(), {folder_ / "made.kilnpack"});
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(ChildProcess([&] {
                ::alarm(60);  // rather than wait for ever
                return ask(service, 0).artifact != nullptr && ask(service, 100 + i).artifact != nullptr ? 0 : 1;
              }).wait(),
              0);
  }
  stop = true;
  maintenance.join();
  EXPECT_EQ(ask(service, 200).outcome, Outcome::compiled);
  EXPECT_EQ(ask_anew(200), Outcome::disk);
  EXPECT_EQ(service.stats().corrupt_dropped, 0U);
  EXPECT_EQ(RawDatabase(database()).integrity(), "ok");
}

}  // namespace
}  // namespace kiln::test
