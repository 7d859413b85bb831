#include "cache/sqlite_gate.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <thread>

#include "cache/fork_guard.hpp"
#include "cache/sqlite.hpp"
#include "support/temp_dir.hpp"

namespace kiln::cache {
namespace {

// Else who waits for its end, inside SQLite, would wait for a thread that the fork keeps out.
TEST(SqliteGate, NoForkComesBetweenTheStatementsOfATransaction) {
  const test::TempDir folder;
  watch_forks();
  Database database = Database::open(folder / "a.db", Database::Access::create, std::chrono::milliseconds(0));
  database.execute("CREATE TABLE numbers(number INTEGER)");
  std::atomic<bool> forked{false};
  std::optional<Transaction> transaction(database);
  std::thread forks([&] {
    const pid_t child = ::fork();
    if (child == 0) {
      ::_exit(0);
    }
    forked = true;
    ::waitpid(child, nullptr, 0);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(forked);
  database.execute("INSERT INTO numbers VALUES(1)");
  transaction->commit();
  EXPECT_FALSE(forked);
  transaction.reset();
  forks.join();
  EXPECT_TRUE(forked);
  EXPECT_EQ(database.integer("SELECT sum(number) FROM numbers"), 1);
}

}  // namespace
}  // namespace kiln::cache
