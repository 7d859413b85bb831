// What others do to the database under a running service: at worst a kernel is compiled again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>

#include "service_fixture.hpp"
#include "support/raw_database.hpp"

namespace kiln::test {
namespace {

class DatabaseUnderService : public ServiceTest {
 protected:
  /// Kernels 1 and 2 are in the cache, and `service` has it open.
  void SetUp() override {
    ASSERT_EQ(ask(service_, 1).outcome, Outcome::compiled);
    ASSERT_EQ(ask(service_, 2).outcome, Outcome::compiled);
    ASSERT_EQ(ask_anew(1), Outcome::disk);
  }
  /// Whatever was done: the service goes on, what it compiles from now on is kept, and others have to compile anew what
  /// was lost.
  void expect_a_recompile_and_no_more() {
    EXPECT_EQ(ask(service_, 1).outcome, Outcome::memory);
    EXPECT_EQ(ask(service_, 3).outcome, Outcome::compiled);
    EXPECT_EQ(ask(service_, 4).outcome, Outcome::compiled);
    EXPECT_EQ(ask_anew(4), Outcome::disk);
    const Stats stats = service_.stats();
    EXPECT_EQ(stats.compiles, 4U);
    EXPECT_EQ(stats.degraded, 0U);
    EXPECT_EQ(stats.puts, 4U);
    EXPECT_EQ(stats.puts_lost, 0U);

    Service another(options());
    EXPECT_EQ(ask(another, 1).outcome, Outcome::compiled);
    EXPECT_EQ(another.stats().compiles, 1U);
    EXPECT_EQ(another.stats().puts_lost, 0U);
    EXPECT_EQ(ask_anew(1), Outcome::disk);
    EXPECT_EQ(RawDatabase(database()).integrity(), "ok");
  }
  void remove_database() {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::filesystem::remove(beside(suffix));
    }
  }

  Service service_{options()};
};

TEST_F(DatabaseUnderService, Deleted) {
  remove_database();
  expect_a_recompile_and_no_more();
  EXPECT_EQ(service_.stats().corrupt_dropped, 0U);
  EXPECT_EQ(messages_.count(), 0U);
}

TEST_F(DatabaseUnderService, DeletedWithoutItsLog) {
  std::filesystem::remove(database());
  expect_a_recompile_and_no_more();
}

TEST_F(DatabaseUnderService, WithItsDirectoryRemoved) {
  std::filesystem::remove_all(folder_ / "cache");
  expect_a_recompile_and_no_more();
  EXPECT_EQ(messages_.count(), 0U);
}

TEST_F(DatabaseUnderService, Truncated) {
  ASSERT_EQ(truncate(database().c_str(), 0), 0);
  expect_a_recompile_and_no_more();
}

TEST_F(DatabaseUnderService, TruncatedWithItsLogRemoved) {
  ASSERT_EQ(truncate(database().c_str(), 0), 0);
  std::filesystem::remove(beside("-wal"));
  expect_a_recompile_and_no_more();
}

TEST_F(DatabaseUnderService, LogRemoved) {
  std::filesystem::remove(beside("-wal"));
  expect_a_recompile_and_no_more();
}

TEST_F(DatabaseUnderService, SharedMemoryRemoved) {
  std::filesystem::remove(beside("-shm"));
  EXPECT_EQ(ask(service_, 3).outcome, Outcome::compiled);
  Service another(options());
  EXPECT_EQ(ask(another, 4).outcome, Outcome::compiled);
  EXPECT_EQ(ask(service_, 5).outcome, Outcome::compiled);
  for (int n : {1, 2, 3, 4, 5}) {
    EXPECT_EQ(ask_anew(n), Outcome::disk) << n;
  }
  EXPECT_EQ(service_.stats().puts_lost + another.stats().puts_lost, 0U);
  EXPECT_EQ(RawDatabase(database()).integrity(), "ok");
}

/// Another process has the database open all the while, and goes on to use it at the end.
class DatabaseOfAnIdleProcess : public ServiceTest {
 protected:
  void SetUp() override {
    idle_.emplace([this] {
      Service service(options());
      bool well = ask(service, 1).outcome == Outcome::compiled;
      ready_.give();
      go_on_.take();
      well = well && ask(service, 8).outcome == Outcome::compiled && ask(service, 9).outcome == Outcome::compiled;
      return well && service.stats().puts_lost == 0 && service.stats().degraded == 0 ? 0 : 1;
    });
    ASSERT_TRUE(ready_.take());
  }
  void expect_a_recompile_and_no_more() {
    ServiceOptions hasty = options();
    hasty.busy_wait = std::chrono::milliseconds(200);
    EXPECT_EQ(ask(Service(hasty), 1).outcome, Outcome::compiled);
    EXPECT_EQ(ask_anew(1), Outcome::disk);
    go_on_.give();
    EXPECT_EQ(idle_->wait(), 0);
    for (int n : {1, 8, 9}) {
      EXPECT_EQ(ask_anew(n), Outcome::disk) << n;
    }
    EXPECT_EQ(RawDatabase(database()).integrity(), "ok");
  }

  Signal ready_;
  Signal go_on_;
  std::optional<ChildProcess> idle_;
};

TEST_F(DatabaseOfAnIdleProcess, Truncated) {
  ASSERT_EQ(truncate(database().c_str(), 0), 0);
  expect_a_recompile_and_no_more();
}

TEST_F(DatabaseOfAnIdleProcess, WithItsLogRemoved) {
  std::filesystem::remove(beside("-wal"));
  expect_a_recompile_and_no_more();
}

TEST_F(DatabaseOfAnIdleProcess, Deleted) {
  std::filesystem::remove(database());
  expect_a_recompile_and_no_more();
}

TEST_F(DatabaseUnderService, CutInHalf) {
  RawDatabase(database()).text("PRAGMA wal_checkpoint(TRUNCATE)");
  std::filesystem::resize_file(database(), std::filesystem::file_size(database()) / 8192 * 4096);
  EXPECT_EQ(ask(service_, 3).outcome, Outcome::compiled);
  EXPECT_EQ(ask(service_, 4).outcome, Outcome::compiled);
  EXPECT_EQ(ask_anew(4), Outcome::disk);
  EXPECT_GE(service_.stats().corrupt_dropped, 1U);
  EXPECT_EQ(RawDatabase(database()).integrity(), "ok");
}

TEST_F(DatabaseUnderService, ReplacedByGarbage) {
  remove_database();
  write_file(database(), std::string(100'000, 'x'));
  std::filesystem::permissions(database(), std::filesystem::perms(0600));
  expect_a_recompile_and_no_more();
  EXPECT_EQ(service_.stats().corrupt_dropped, 1U);
  EXPECT_EQ(messages_.count_with("moved aside"), 1U);
  EXPECT_EQ(messages_.count(), 1U);
}

TEST_F(DatabaseUnderService, ReplacedByAnotherCache) {
  ServiceOptions elsewhere = options();
  elsewhere.cache_dir = folder_ / "other";
  EXPECT_EQ(ask(Service(elsewhere), 7).outcome, Outcome::compiled);
  remove_database();
  std::filesystem::rename(folder_ / "other" / "kiln.db", database());
  EXPECT_EQ(ask(service_, 7).outcome, Outcome::disk) << "found in the database that is there now";
  EXPECT_EQ(ask(service_, 3).outcome, Outcome::compiled);
  EXPECT_EQ(ask_anew(3), Outcome::disk);
  EXPECT_EQ(ask_anew(1), Outcome::compiled);
  EXPECT_EQ(service_.stats().puts_lost, 0U);
  EXPECT_EQ(service_.stats().corrupt_dropped, 0U);
}

// A process that still has the deleted database open must not take the new one's log away when it lets go of it.
TEST_F(DatabaseUnderService, DeletedAndMadeAnewByAnotherProcess) {
  remove_database();
  Service another(options());
  ASSERT_EQ(ask(another, 5).outcome, Outcome::compiled);
  ASSERT_TRUE(std::filesystem::exists(beside("-wal")));
  EXPECT_EQ(ask(service_, 3).outcome, Outcome::compiled);  // notices, and opens the new one
  ASSERT_EQ(ask(another, 6).outcome, Outcome::compiled);
  ASSERT_EQ(ask(service_, 4).outcome, Outcome::compiled);
  for (int n : {3, 4, 5, 6}) {
    EXPECT_EQ(ask_anew(n), Outcome::disk) << n;
  }
  EXPECT_EQ(RawDatabase(database()).integrity(), "ok");
  EXPECT_EQ(service_.stats().corrupt_dropped + another.stats().corrupt_dropped, 0U);
}

}  // namespace
}  // namespace kiln::test
