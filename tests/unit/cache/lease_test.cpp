#include "cache/lease.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "support/child_process.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::cache {
namespace {

using namespace std::chrono_literals;
using Result = Lease::Result;
using Clock = std::chrono::steady_clock;

constexpr uid_t k_other = 54322;

class LeaseTest : public ::testing::Test {
 protected:
  Result try_acquire(const Key& key) { return Lease::acquire(cache_.path(), key, 0ms).second; }
  Result try_acquire() { return try_acquire(key_); }

  const test::TempDir cache_;
  const Key key_{1, 2};
};

TEST_F(LeaseTest, IsHeldUntilDestruction) {
  bool waited = true;
  {
    const auto [lease, result] = Lease::acquire(cache_.path(), key_, 0ms, &waited);
    EXPECT_EQ(result, Result::held);
    EXPECT_FALSE(waited);
    EXPECT_EQ(Lease::acquire(cache_.path(), key_, 0ms, &waited).second, Result::timed_out);
    EXPECT_TRUE(waited);
  }
  EXPECT_EQ(Lease::acquire(cache_.path(), key_, 0ms, &waited).second, Result::held);
  EXPECT_FALSE(waited);
}

TEST_F(LeaseTest, MovesWithItsHolder) {
  Lease outer;
  {
    auto [lease, result] = Lease::acquire(cache_.path(), key_, 0ms);
    ASSERT_EQ(result, Result::held);
    outer = std::move(lease);
  }
  EXPECT_EQ(try_acquire(), Result::timed_out);
  Lease& alias = outer;
  outer = std::move(alias);
  EXPECT_EQ(try_acquire(), Result::timed_out);
  outer = Lease();
  EXPECT_EQ(try_acquire(), Result::held);
}

TEST_F(LeaseTest, OfOtherKeysAndCachesIsApart) {
  const auto held = Lease::acquire(cache_.path(), key_, 0ms);
  EXPECT_EQ(try_acquire(Key{1, 3}), Result::held);
  EXPECT_EQ(try_acquire(Key{2, 2}), Result::held);
  const test::TempDir other;
  EXPECT_EQ(Lease::acquire(other.path(), key_, 0ms).second, Result::held);
}

TEST_F(LeaseTest, IsOneByEveryPathToTheCache) {
  const auto held = Lease::acquire(cache_.path(), key_, 0ms);
  const test::TempDir other;
  std::filesystem::create_directory_symlink(cache_.path(), other.path() / "link");
  EXPECT_EQ(Lease::acquire(other.path() / "link", key_, 0ms).second, Result::timed_out);
  EXPECT_EQ(Lease::acquire(cache_.path() / "", key_, 0ms).second, Result::timed_out);
  EXPECT_EQ(Lease::acquire(cache_.path() / ".." / cache_.path().filename(), key_, 0ms).second, Result::timed_out);
}

TEST_F(LeaseTest, IsOneByEveryMountOfTheCache) {
  const auto held = Lease::acquire(cache_.path(), key_, 0ms);
  const test::TempDir other;
  test::ChildProcess child([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(cache_.path().c_str(), other.path().c_str(), nullptr, MS_BIND, nullptr) != 0) {
      return 2;
    }
    return Lease::acquire(other.path(), key_, 0ms).second == Result::timed_out ? 0 : 1;
  });
  const int status = child.wait();
  if (status == 2) {
    GTEST_SKIP() << "this user may not mount";
  }
  EXPECT_EQ(status, 0);
}

TEST_F(LeaseTest, OutlivesTheMakingOfTheCacheDirectory) {
  const auto directory = cache_.path() / "later" / "kiln";
  const auto held = Lease::acquire(directory, key_, 0ms);
  ASSERT_EQ(held.second, Result::held);
  std::filesystem::create_directories(directory);
  EXPECT_EQ(Lease::acquire(directory, key_, 0ms).second, Result::timed_out);
}

TEST_F(LeaseTest, WaitsForItsTurn) {
  std::optional<Lease> held = Lease::acquire(cache_.path(), key_, 0ms).first;
  std::thread holder([&] {
    std::this_thread::sleep_for(50ms);
    held.reset();
  });
  bool waited = false;
  const auto begin = Clock::now();
  const auto got = Lease::acquire(cache_.path(), key_, 10s, &waited);
  const auto took = Clock::now() - begin;
  holder.join();
  EXPECT_EQ(got.second, Result::held);
  EXPECT_TRUE(waited);
  EXPECT_GE(took, 45ms);
  EXPECT_LT(took, 5s);
}

TEST_F(LeaseTest, TakesAnyWait) {
  EXPECT_EQ(Lease::acquire(cache_.path(), key_, std::chrono::milliseconds::max()).second, Result::held);
  const auto held = Lease::acquire(cache_.path(), key_, std::chrono::milliseconds::min());
  EXPECT_EQ(held.second, Result::held);
  EXPECT_EQ(Lease::acquire(cache_.path(), key_, -5ms).second, Result::timed_out);
}

/// A process that holds the key's lease until it is killed; `inside` runs once it has it.
template <typename Function>
test::ChildProcess holder(const std::filesystem::path& cache, const Key& key, const test::Signal& ready,
                          Function inside) {
  return test::ChildProcess([&cache, &key, &ready, inside] {
    const auto held = Lease::acquire(cache, key, 0ms);
    inside();
    ready.give();
    for (;;) {
      ::pause();
    }
    return 0;
  });
}

TEST_F(LeaseTest, VanishesWithAKilledHolder) {
  const test::Signal ready;
  auto child = holder(cache_.path(), key_, ready, [] {});
  ASSERT_TRUE(ready.take());
  EXPECT_EQ(try_acquire(), Result::timed_out);
  child.kill(SIGKILL);
  const auto begin = Clock::now();
  EXPECT_EQ(Lease::acquire(cache_.path(), key_, 30s).second, Result::held);
  EXPECT_LT(Clock::now() - begin, 5s);
}

TEST_F(LeaseTest, AStoppedHolderDelaysByTheWaitAtMost) {
  const test::Signal ready;
  auto child = holder(cache_.path(), key_, ready, [] {});
  ASSERT_TRUE(ready.take());
  child.kill(SIGSTOP);
  const auto begin = Clock::now();
  EXPECT_EQ(Lease::acquire(cache_.path(), key_, 100ms).second, Result::timed_out);
  const auto took = Clock::now() - begin;
  EXPECT_GE(took, 100ms);
  EXPECT_LT(took, 2s);
}

TEST_F(LeaseTest, IsNotInheritedByAForkedChild) {
  const test::Signal ready;
  const test::Signal grandchild_ends;
  auto child = holder(cache_.path(), key_, ready, [&] {
    if (::fork() == 0) {
      grandchild_ends.take();  // outlives its parent
      ::_exit(0);
    }
  });
  ASSERT_TRUE(ready.take());
  EXPECT_EQ(try_acquire(), Result::timed_out);
  child.kill(SIGKILL);
  child.wait();
  EXPECT_EQ(Lease::acquire(cache_.path(), key_, 5s).second, Result::held);
  grandchild_ends.give();
}

TEST_F(LeaseTest, IsNotInheritedByAProgramThatIsStarted) {
  const test::Signal ready;
  const test::Signal spawned;
  auto child = holder(cache_.path(), key_, ready, [] {
    std::array arguments{const_cast<char*>("sleep"), const_cast<char*>("2"), static_cast<char*>(nullptr)};
    std::array<char*, 1> environment{nullptr};
    pid_t pid = 0;
    ::posix_spawn(&pid, "/bin/sleep", nullptr, nullptr, arguments.data(), environment.data());
  });
  ASSERT_TRUE(ready.take());
  child.kill(SIGKILL);
  child.wait();
  EXPECT_EQ(Lease::acquire(cache_.path(), key_, 5s).second, Result::held);
}

TEST_F(LeaseTest, AChildsCopyReleasesNothing) {
  auto held = std::make_optional(Lease::acquire(cache_.path(), key_, 0ms));
  ASSERT_EQ(held->second, Result::held);
  test::ChildProcess child([&] {
    std::vector<int> reused;  // one of these has the number that the lease's descriptor had
    for (int i = 0; i < 8; ++i) {
      reused.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    }
    held.reset();
    for (const int descriptor : reused) {
      if (::fcntl(descriptor, F_GETFD) < 0) {
        return 1;
      }
    }
    return Lease::acquire(cache_.path(), key_, 0ms).second == Result::timed_out ? 0 : 2;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(try_acquire(), Result::timed_out);
}

TEST_F(LeaseTest, AReleaseCountsThoughAChildMadePastTheForkHandlersLives) {
  auto held = std::make_optional(Lease::acquire(cache_.path(), key_, 0ms));
  ASSERT_EQ(held->second, Result::held);
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
  if (child == 0) {
    for (;;) {
      ::pause();
    }
  }
  held.reset();
  EXPECT_EQ(try_acquire(), Result::held);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(LeaseTest, AForkWhileAnotherThreadWaitsIsHarmless) {
  const auto held = Lease::acquire(cache_.path(), key_, 0ms);
  std::thread waiter([&] { Lease::acquire(cache_.path(), key_, 300ms); });
  for (int i = 0; i < 20; ++i) {
    test::ChildProcess child([&] {
      return Lease::acquire(cache_.path(), Key{7, 7}, 5s).second == Result::held &&
                     Lease::acquire(cache_.path(), key_, 0ms).second == Result::timed_out
                 ? 0
                 : 1;
    });
    EXPECT_EQ(child.wait(), 0);
  }
  waiter.join();
}

TEST_F(LeaseTest, IsUnavailableWithoutDescriptors) {
  // Copies: without descriptors the sanitizer cannot look at `this`.
  test::ChildProcess child([path = cache_.path(), key = key_] {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_NOFILE, &none);
    return Lease::acquire(path, key, 5s).second == Result::unavailable ? 0 : 1;
  });
  EXPECT_EQ(child.wait(), 0);
}

/// Runs in a child as a user of its own, whose lease files belong to no other test.
template <typename Function>
int as_other_user(Function function) {
  if (::geteuid() != 0) {
    return 77;
  }
  const std::array files{"/dev/shm/kiln-leases-54322", "/tmp/kiln-leases-54322"};
  for (const char* file : files) {
    ::unlink(file);
  }
  const int status = test::ChildProcess([&] { return function(files); }).wait();
  for (const char* file : files) {
    ::unlink(file);
    std::error_code error;
    std::filesystem::remove(file, error);
  }
  return status;
}

bool become_other() { return ::setresuid(k_other, k_other, k_other) == 0; }

TEST_F(LeaseTest, StaysOutOfFilesThatOthersPutInItsPlace) {
  const int status = as_other_user([&](const auto& files) {
    test::write_file(files[0], "root's");
    ::chmod(files[0], 0666);
    if (!become_other()) {
      return 2;
    }
    const auto held = Lease::acquire(cache_.path(), key_, 0ms);  // in /tmp
    return held.second == Result::held && try_acquire() == Result::timed_out ? 0 : 1;
  });
  if (status == 77) {
    GTEST_SKIP() << "only root can become another user";
  }
  EXPECT_EQ(status, 0);
}

TEST_F(LeaseTest, IsUnavailableWhereNoFileCanBeHad) {
  const int status = as_other_user([&](const auto& files) {
    ::mkfifo(files[0], 0666);
    ::symlink("/tmp/anywhere", files[1]);
    return become_other() && Lease::acquire(cache_.path(), key_, 5s).second == Result::unavailable ? 0 : 1;
  });
  if (status == 77) {
    GTEST_SKIP() << "only root can become another user";
  }
  EXPECT_EQ(status, 0);
}

TEST_F(LeaseTest, GoesOnWhenItsFileIsCleanedUp) {
  const int status = as_other_user([&](const auto& files) {
    if (!become_other()) {
      return 2;
    }
    auto held = Lease::acquire(cache_.path(), key_, 0ms);
    std::thread waiter;
    std::atomic<int> got = -1;
    waiter = std::thread([&] { got = static_cast<int>(Lease::acquire(cache_.path(), key_, 5s).second); });
    std::this_thread::sleep_for(20ms);
    ::unlink(files[0]);
    held.first = Lease();  // now the waiter has a lock on a file that nobody finds, and must notice
    waiter.join();
    struct stat file{};
    return got == static_cast<int>(Result::held) && ::stat(files[0], &file) == 0 && (file.st_mode & 0777) == 0600 ? 0
                                                                                                                  : 1;
  });
  if (status == 77) {
    GTEST_SKIP() << "only root can become another user";
  }
  EXPECT_EQ(status, 0);
}

struct Board {
  std::atomic<int> compiled[200];
  std::atomic<int> inside[200];
  std::atomic<int> overlaps;
  std::atomic<int> errors;
};

TEST_F(LeaseTest, SixtyFourProcessesAndTwoHundredKeysCompileEachOnce) {
  auto* board =
      static_cast<Board*>(::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(board, MAP_FAILED);
  std::vector<test::ChildProcess> processes;
  processes.reserve(64);
  for (int process = 0; process < 64; ++process) {
    processes.emplace_back([&] {
      for (std::uint64_t key = 0; key < 200; ++key) {
        const auto [lease, result] = Lease::acquire(cache_.path(), Key{0, key}, 60s);
        if (result != Result::held) {
          ++board->errors;
          continue;
        }
        if (board->inside[key]++ != 0) {
          ++board->overlaps;
        }
        if (board->compiled[key] == 0) {
          std::this_thread::sleep_for(200us);
          ++board->compiled[key];
        }
        --board->inside[key];
      }
      return 0;
    });
  }
  for (auto& process : processes) {
    EXPECT_EQ(process.wait(), 0);
  }
  EXPECT_EQ(board->errors, 0);
  EXPECT_EQ(board->overlaps, 0);
  for (const auto& compiled : board->compiled) {
    EXPECT_EQ(compiled, 1);
  }
  ::munmap(board, sizeof(Board));
}

TEST_F(LeaseTest, ThreadsExcludeEachOther) {
  std::atomic<int> inside = 0;
  std::atomic<int> overlaps = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 25; ++round) {
        const auto held = Lease::acquire(cache_.path(), key_, 60s);
        if (held.second != Result::held || inside++ != 0) {
          ++overlaps;
        }
        std::this_thread::yield();
        --inside;
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(overlaps, 0);
}

}  // namespace
}  // namespace kiln::cache
