// What happens to the user database, and what follows from it: at worst a recompile.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <fstream>
#include <memory>
#include <thread>

#include "cache/backoff.hpp"
#include "recovery_fixture.hpp"

namespace kiln::cache {
namespace {

TEST_F(RecoveryTest, ADamagedRowIsDroppedAndCounted) {
  make(2);
  execute("UPDATE artifacts SET image = zeroblob(100) WHERE template = 'sample1.cu'");
  LayeredStore store(options());
  EXPECT_FALSE(get(store, sample_artifact(1)));
  EXPECT_EQ(stats_of(store).corrupt_dropped, 1U);
  EXPECT_EQ(messages_.count_with("sample1.cu"), 1U);
  EXPECT_FALSE(store.contains(sample_artifact(1).key));
  EXPECT_TRUE(get(store, sample_artifact(0)));
  EXPECT_TRUE(store.put(sample_artifact(1)));
  EXPECT_TRUE(get(store, sample_artifact(1)));
}

TEST_F(RecoveryTest, ADamagedRowThatCannotBeDroppedIsNotSaidToBe) {
  make(1);
  execute("UPDATE artifacts SET log = 'forged'");
  Database other = Database::open(database(), Database::Access::read_write, std::chrono::milliseconds(0));
  LayeredStore store(options());
  other.execute("BEGIN IMMEDIATE");
  EXPECT_FALSE(get(store, sample_artifact(0)));
  EXPECT_EQ(messages_.count_with("is damaged; it is compiled again"), 1U);
  other.execute("COMMIT");
}

TEST_F(RecoveryTest, WhatIsNoDatabaseIsMovedAside) {
  make(1);
  restore("this is no database at all, but it is long enough to have a header of a hundred bytes, and then some more.");
  LayeredStore store(options());
  EXPECT_FALSE(get(store, sample_artifact(0)));
  EXPECT_TRUE(store.put(sample_artifact(0)));
  EXPECT_TRUE(get(store, sample_artifact(0)));
  EXPECT_TRUE(std::filesystem::exists(beside(".corrupt-1")));
  EXPECT_EQ(stats_of(store).corrupt_dropped, 1U);
  EXPECT_EQ(messages_.count_with("moved aside"), 1U);
}

TEST_F(RecoveryTest, WhatIsNoDatabaseIsSaidInAReadOnlyCache) {
  make(1);
  const std::string sound = read_file(database());
  ServiceOptions read_only = options();
  read_only.cache_mode = CacheMode::read_only;
  for (const std::string& content :
       {"this is no database at all, but long enough to have a header" + std::string(200, '.'),
        sound.substr(0, sound.size() / 2), sound.substr(0, 50)}) {
    restore(content);
    const std::size_t said = messages_.all().size();
    LayeredStore store(read_only);
    for (int i = 0; i < 2; ++i) {
      EXPECT_FALSE(get(store, sample_artifact(0)));
    }
    EXPECT_EQ(messages_.all().size(), said + 1);
    EXPECT_EQ(stats_of(store).degraded, 1U);
    EXPECT_NE(stats_of(store).layers.at(0).trouble, "");
    EXPECT_EQ(read_file(database()), content);
  }
  restore(std::string());
  LayeredStore store(read_only);
  EXPECT_FALSE(get(store, sample_artifact(0)));
  EXPECT_EQ(stats_of(store).degraded, 0U) << "its maker is at it";
}

TEST_F(RecoveryTest, AtMostTwoDamagedDatabasesAreKept) {
  make(1);
  for (int i = 0; i < 5; ++i) {
    write_file(database(), "no database, number " + std::to_string(i) + std::string(200, '.'));
    expect_usable(0);
  }
  EXPECT_TRUE(std::filesystem::exists(beside(".corrupt-1")));
  EXPECT_TRUE(std::filesystem::exists(beside(".corrupt-2")));
  EXPECT_FALSE(std::filesystem::exists(beside(".corrupt-3")));
}

TEST_F(RecoveryTest, AnotherProgramsDatabaseIsMovedAside) {
  make(1);
  std::filesystem::remove(database());
  execute("CREATE TABLE theirs(x); PRAGMA application_id = 7");
  std::filesystem::permissions(database(), std::filesystem::perms(0600));
  expect_usable(0);
  EXPECT_TRUE(std::filesystem::exists(beside(".corrupt-1")));
}

TEST_F(RecoveryTest, ANewerFormatIsLeftAlone) {
  make(1);
  execute("PRAGMA journal_mode = DELETE; PRAGMA user_version = 2002; UPDATE meta SET value = 2 WHERE key = 'format'");
  std::string before = read_file(database());
  LayeredStore store(options());
  EXPECT_FALSE(get(store, sample_artifact(0)));
  EXPECT_FALSE(store.put(sample_artifact(0)));
  EXPECT_EQ(read_file(database()), before);
  EXPECT_EQ(messages_.count_with("newer Kiln"), 1U);
  Stats stats = stats_of(store);
  EXPECT_EQ(stats.degraded, 1U);
  EXPECT_EQ(stats.puts_lost, 1U);
  EXPECT_NE(stats.layers.at(0).trouble.find("format 2"), std::string::npos);
}

TEST_F(RecoveryTest, ANewerFormatThatStillFitsIsUsed) {
  make(1);
  execute("PRAGMA user_version = 2001; UPDATE meta SET value = 2 WHERE key = 'format'");
  LayeredStore store(options());
  EXPECT_TRUE(get(store, sample_artifact(0)));
  EXPECT_TRUE(store.put(sample_artifact(1)));
}

TEST_F(RecoveryTest, ADamagedVersionIsNotTakenForANewerFormat) {
  make(1);
  const std::string sound = read_file(database());
  for (const char* version : {"2002", "9009", "17002"}) {
    restore(sound);
    execute((std::string("PRAGMA user_version = ") + version).c_str());
    expect_usable(0);
    ASSERT_FALSE(HasFatalFailure()) << version;
  }
}

TEST_F(RecoveryTest, DeletedUnderARunningProcess) {
  LayeredStore store(options());
  ASSERT_TRUE(store.put(sample_artifact(0)));
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(beside(suffix));
  }
  ASSERT_TRUE(store.put(sample_artifact(1)));
  EXPECT_TRUE(get(store, sample_artifact(1)));
  EXPECT_TRUE(std::filesystem::exists(database()));
  LayeredStore another(options());
  EXPECT_TRUE(get(another, sample_artifact(1)));
}

TEST_F(RecoveryTest, TheWholeDirectoryDeletedUnderARunningProcess) {
  LayeredStore store(options());
  ASSERT_TRUE(store.put(sample_artifact(0)));
  std::filesystem::remove_all(database().parent_path());
  ASSERT_TRUE(store.put(sample_artifact(1)));
  LayeredStore another(options());
  EXPECT_TRUE(get(another, sample_artifact(1)));
}

TEST_F(RecoveryTest, ReplacedUnderARunningProcess) {
  make(3);
  std::string with_three = read_file(database());
  std::filesystem::remove_all(database().parent_path());
  LayeredStore store(options());
  ASSERT_TRUE(store.put(sample_artifact(9)));
  std::filesystem::remove(beside("-wal"));
  std::filesystem::remove(beside("-shm"));
  write_file(beside(".other"), with_three);
  std::filesystem::rename(beside(".other"), database());
  EXPECT_TRUE(get(store, sample_artifact(2))) << "found in the database that is there now";
}

TEST_F(RecoveryTest, TruncatedUnderARunningProcess) {
  LayeredStore store(options());
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(store.put(sample_artifact(i)));
  }
  ASSERT_EQ(::truncate(database().c_str(), 0), 0);
  for (int i = 0; i < 30; ++i) {
    Artifact artifact = sample_artifact(i);
    std::optional<Hit> hit = get(store, artifact);
    EXPECT_TRUE(!hit || same(hit->artifact, artifact));
  }
  store.put(sample_artifact(40));
  ASSERT_TRUE(store.put(sample_artifact(41)));
  EXPECT_TRUE(get(store, sample_artifact(41)));
}

TEST_F(RecoveryTest, ADirectoryThatCannotBeMadeIsSaidOnce) {
  write_file(folder_.path() / "file", "not a directory");
  ServiceOptions options;
  options.cache_dir = folder_.path() / "file" / "cache";
  options.log = messages_.callback();
  LayeredStore store(options);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(get(store, sample_artifact(0)));
    EXPECT_FALSE(store.put(sample_artifact(0)));
  }
  EXPECT_EQ(messages_.all().size(), 1U);
  EXPECT_EQ(stats_of(store).puts_lost, 3U);
  EXPECT_EQ(stats_of(store).degraded, 1U);
}

TEST_F(RecoveryTest, ADirectoryThatOthersMayWriteIsRefused) {
  make(1);
  std::filesystem::permissions(database().parent_path(), std::filesystem::perms(0777));
  LayeredStore store(options());
  EXPECT_FALSE(get(store, sample_artifact(0)));
  EXPECT_FALSE(store.put(sample_artifact(0)));
  EXPECT_EQ(stats_of(store).degraded, 1U);
}

TEST_F(RecoveryTest, ABusyDatabaseDelaysByTheBusyWaitAtMost) {
  make(1);
  Database other = Database::open(database(), Database::Access::read_write, std::chrono::milliseconds(0));
  other.execute("BEGIN IMMEDIATE");
  LayeredStore store(options());
  EXPECT_TRUE(get(store, sample_artifact(0))) << "readers do not wait for the writer";
  auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(store.put(sample_artifact(1)));
  EXPECT_FALSE(store.put(sample_artifact(1)));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_EQ(messages_.all().size(), 1U);
  EXPECT_EQ(stats_of(store).puts_lost, 2U);
}

TEST_F(RecoveryTest, ABusyDatabaseIsStillRead) {
  make(1);
  Database other = Database::open(database(), Database::Access::read_write, std::chrono::milliseconds(0));
  LayeredStore store(options());
  ASSERT_TRUE(store.put(sample_artifact(1)));
  other.execute("BEGIN IMMEDIATE");
  EXPECT_FALSE(store.put(sample_artifact(2)));
  EXPECT_TRUE(get(store, sample_artifact(0)));
  EXPECT_TRUE(get(store, sample_artifact(1)));
  EXPECT_EQ(stats_of(store).degraded, 0U);
}

TEST_F(RecoveryTest, ABusyDatabaseIsWrittenAgainAfterAMoment) {
  make(1);
  Database other = Database::open(database(), Database::Access::read_write, std::chrono::milliseconds(0));
  LayeredStore store(options());
  other.execute("BEGIN IMMEDIATE");
  EXPECT_FALSE(store.put(sample_artifact(1)));
  other.execute("COMMIT");
  std::this_thread::sleep_for(Backoff::k_first + std::chrono::milliseconds(50));
  EXPECT_TRUE(store.put(sample_artifact(1)));
  EXPECT_TRUE(get(store, sample_artifact(1)));
}

TEST_F(RecoveryTest, WhoWaitedInVainWaitsLittleTheNextTime) {
  make(1);
  Database other = Database::open(database(), Database::Access::read_write, std::chrono::milliseconds(0));
  ServiceOptions patient = options();
  patient.busy_wait = std::chrono::milliseconds(1500);
  LayeredStore store(patient);
  other.execute("BEGIN IMMEDIATE");
  EXPECT_FALSE(store.put(sample_artifact(1)));
  std::this_thread::sleep_for(Backoff::k_first + std::chrono::milliseconds(10));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(store.put(sample_artifact(1)));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1000));
  other.execute("COMMIT");
  EXPECT_EQ(messages_.count_with("not written within 1500 ms"), 1U);
}

/// What this thread has computed for.
std::chrono::nanoseconds busy_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

TEST_F(RecoveryTest, ABusyDatabaseMayBeWaitedForAsLongAsItTakes) {
  make(1);
  Database other = Database::open(database(), Database::Access::read_write, std::chrono::milliseconds(0));
  other.execute("BEGIN IMMEDIATE");
  ServiceOptions patient = options();
  patient.busy_wait = std::chrono::milliseconds::max();
  LayeredStore store(patient);
  std::thread holder([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    other.execute("COMMIT");
  });
  const auto before = busy_time();
  EXPECT_TRUE(store.put(sample_artifact(1)));
  EXPECT_LT(busy_time() - before, std::chrono::milliseconds(200)) << "it slept";
  holder.join();
}

TEST_F(RecoveryTest, ADirectoryMayBeNamedWithTwoSlashes) {
  ServiceOptions doubled = options();
  doubled.cache_dir = "/" + options().cache_dir->string();
  LayeredStore store(doubled);
  ASSERT_TRUE(store.put(sample_artifact(0)));
  EXPECT_TRUE(get(store, sample_artifact(0)));
  std::size_t listed = 0;
  store.query({}, [&listed](const Entry&) { return ++listed > 0; });
  EXPECT_EQ(listed, 1U);
}

TEST_F(RecoveryTest, ClearSaysThatTheDatabaseIsBusy) {
  make(1);
  Database other = Database::open(database(), Database::Access::read_write, std::chrono::milliseconds(0));
  other.execute("BEGIN IMMEDIATE");
  LayeredStore store(options());
  EXPECT_THROW(store.clear(), StoreError);
}

TEST_F(RecoveryTest, AHostileSchemaIsAMiss) {
  make(1);
  const std::vector<const char*> attacks{
      "DROP VIEW kernels; ALTER TABLE artifacts RENAME TO a; CREATE VIEW artifacts AS WITH RECURSIVE c(x) AS (SELECT 1 "
      "UNION ALL SELECT x + 1 FROM c) SELECT x AS id, x AS key FROM c",
      "CREATE TRIGGER t AFTER INSERT ON artifacts BEGIN DELETE FROM artifacts; END",
      "DROP VIEW kernels; DROP TABLE artifacts; CREATE VIRTUAL TABLE artifacts USING fts5(key)",
      "DROP VIEW kernels; DROP TABLE artifacts",
      "DROP VIEW kernels; DROP TABLE artifacts; CREATE TABLE artifacts(key, compiler AS (abs(-9223372036854775807 - "
      "1)))",
      "CREATE INDEX i ON artifacts(randomblob(1000000000)) WHERE 0",
      "DROP TABLE meta",
  };
  std::string sound = read_file(database());
  for (const char* attack : attacks) {
    restore(sound);
    try {
      execute(attack);
    } catch (const SqliteError&) {
      // This SQLite does not even let it be made.
    }
    std::filesystem::permissions(database(), std::filesystem::perms(0600));
    expect_usable(0);
    ASSERT_FALSE(HasFatalFailure()) << attack;
  }
}

TEST_F(RecoveryTest, LastUsedIsWrittenOnceADay) {
  make(1);
  execute("UPDATE artifacts SET last_used = 1000");
  {
    LayeredStore store(options());
    ASSERT_TRUE(get(store, sample_artifact(0)));
  }
  LayeredStore store(options());
  std::int64_t last_used = 0;
  store.query({}, [&last_used](const Entry& entry) {
    last_used = entry.last_used;
    return true;
  });
  EXPECT_GT(last_used, 1'700'000'000);
}

}  // namespace
}  // namespace kiln::cache
