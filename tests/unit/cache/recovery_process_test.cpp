// The user database, used by several processes and across forks.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "recovery_fixture.hpp"

namespace kiln::cache {
namespace {

TEST_F(RecoveryTest, ProcessesPutAndGetTogether) {
  constexpr int k_processes = 6;
  constexpr int k_rows = 30;
  std::vector<pid_t> children;
  for (int process = 0; process < k_processes; ++process) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ServiceOptions patient = options();
      patient.busy_wait = std::chrono::milliseconds(10000);
      int failures = 0;
      {
        LayeredStore store(patient);
        for (int i = 0; i < k_rows; ++i) {
          Artifact artifact = sample_artifact((i + process * 5) % k_rows);
          std::optional<Hit> hit = get(store, artifact);
          failures += hit && !same(hit->artifact, artifact) ? 1 : 0;
          failures += !hit && !store.put(artifact) ? 1 : 0;
          failures += get(store, artifact) ? 0 : 1;
        }
      }
      ::_exit(failures);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  LayeredStore store(options());
  EXPECT_EQ(stats_of(store).layers.at(0).entries, static_cast<std::uint64_t>(k_rows));
  EXPECT_EQ(stats_of(store).corrupt_dropped, 0U);
}

TEST_F(RecoveryTest, AStoreOutlivesAFork) {
  LayeredStore store(options());
  ASSERT_TRUE(store.put(sample_artifact(0)));
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    bool ok = get(store, sample_artifact(0)) && store.put(sample_artifact(1)) && get(store, sample_artifact(1));
    ::_exit(ok ? 0 : 1);
  }
  EXPECT_TRUE(store.put(sample_artifact(2)));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(get(store, sample_artifact(1)));
  EXPECT_TRUE(get(store, sample_artifact(2)));
  EXPECT_TRUE(messages_.all().empty());
}

TEST_F(RecoveryTest, ForksWhileThreadsUseTheStore) {
  LayeredStore store(options());
  ASSERT_TRUE(store.put(sample_artifact(0)));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&store, &stop, t] {
      for (int i = 0; !stop; ++i) {
        get(store, sample_artifact(i % 3));
        store.put(sample_artifact(t));
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::_exit(get(store, sample_artifact(0)) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
}

/// How many POSIX locks there are on a file, as the kernel tells.
std::size_t locks_on(const std::filesystem::path& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) {
    return 0;
  }
  std::string inode = ":" + std::to_string(status.st_ino) + " ";
  std::ifstream locks("/proc/locks");
  std::size_t count = 0;
  for (std::string line; std::getline(locks, line);) {
    count += line.find(inode) != std::string::npos ? 1 : 0;
  }
  return count;
}

/// Closing any descriptor of a file drops all locks the process has on it: a snapshot must not do that to a connection.
TEST_F(RecoveryTest, ASnapshotLeavesTheLocksOfOtherStoresAlone) {
  make(1);
  auto snapshot = std::make_unique<LayeredStore>(options());
  ASSERT_TRUE(get(*snapshot, sample_artifact(0)));
  LayeredStore locked(options());
  ASSERT_TRUE(locked.put(sample_artifact(1)));
  if (locks_on(database()) == 0) {
    GTEST_SKIP() << "/proc/locks does not tell";
  }
  snapshot.reset();
  EXPECT_GT(locks_on(database()), 0U);
  {
    LayeredStore another(options());
    ASSERT_TRUE(get(another, sample_artifact(0)));
  }
  EXPECT_GT(locks_on(database()), 0U);
}

}  // namespace
}  // namespace kiln::cache
