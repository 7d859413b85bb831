// The counters that outlive a service.

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <thread>

#include "cache/layered_store.hpp"
#include "cache/tally.hpp"
#include "cache/totals_file.hpp"
#include "cache_fixture.hpp"
#include "kiln/maintenance.hpp"
#include "support/child_process.hpp"
#include "support/raw_database.hpp"

namespace kiln::cache {
namespace {

using namespace testing;

class TotalsTest : public ::testing::Test {
 protected:
  ServiceOptions options() const {
    ServiceOptions options;
    options.cache_dir = folder_.path() / "cache";
    return options;
  }
  std::filesystem::path database() const { return folder_.path() / "cache" / "kiln.db"; }
  std::filesystem::path file() const { return folder_.path() / "cache" / "kiln.stats"; }
  void put(int number) const { ASSERT_TRUE(LayeredStore(options()).put(sample_artifact(number))); }
  Totals totals() const {
    LayeredStore store(options());
    return stats_of(store).totals;
  }

  TemporaryFolder folder_;
};

TEST_F(TotalsTest, AddUpOverServices) {
  for (unsigned i = 0; i < 3; ++i) {
    LayeredStore store(options());
    store.count({.misses = 1});
    store.count({.compiles = 1, .compile_failures = 4});
    ASSERT_TRUE(store.put(sample_artifact(static_cast<int>(i))));
    store.count({.hits = 2, .lease_waits = 3, .lease_timeouts = 1});
    EXPECT_EQ(stats_of(store).hits, 2U);
    EXPECT_EQ(stats_of(store).totals.hits, 2 * i + 2) << "with what is not written yet";
  }
  EXPECT_EQ(totals(), (Totals{.hits = 6,
                              .misses = 3,
                              .compiles = 3,
                              .compile_failures = 12,
                              .puts = 3,
                              .lease_waits = 9,
                              .lease_timeouts = 3}));
  struct stat status{};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(TotalsTest, WithoutAUserCacheAreTheService) {
  LayeredStore store({});
  store.count({.hits = 2});
  EXPECT_EQ(stats_of(store).totals, (Totals{.hits = 2}));
}

TEST_F(TotalsTest, CountWhatWasDroppedAndEvicted) {
  ServiceOptions small = options();
  small.max_bytes = 200'000;
  {
    LayeredStore store(small);
    for (int i = 0; i < 60; ++i) {
      ASSERT_TRUE(store.put(sample_artifact(i)));
    }
    test::RawDatabase(database()).execute("UPDATE artifacts SET log = 'forged'");
    EXPECT_FALSE(get(store, sample_artifact(59)));
  }
  EXPECT_GT(totals().evicted, 0U);
  EXPECT_EQ(totals().corrupt_dropped, 1U);
  verify(options(), true);
  EXPECT_GT(totals().corrupt_dropped, 10U) << "the others were dropped by the repair";
}

TEST_F(TotalsTest, OutliveADatabaseThatIsMovedAside) {
  put(0);
  write_file(database(), std::string(8192, 'x'));
  put(1);
  EXPECT_EQ(totals().puts, 2U);
  EXPECT_EQ(totals().corrupt_dropped, 1U);
  EXPECT_EQ(totals().degraded, 0U);
}

TEST_F(TotalsTest, OfAProcessThatOnlyFindsCostNoWriteToTheDatabase) {
  put(0);
  const std::string before = read_file(database());
  const auto changed = std::filesystem::last_write_time(database());
  {
    LayeredStore store(options());
    ASSERT_TRUE(get(store, sample_artifact(0)));
    store.count({.hits = 1});
    EXPECT_EQ(stats_of(store).layers.front().hits, 1U);
  }
  EXPECT_EQ(totals().hits, 1U);
  EXPECT_EQ(read_file(database()), before);
  EXPECT_EQ(std::filesystem::last_write_time(database()), changed);
}

TEST_F(TotalsTest, OfAReadOnlyCacheAreReadButNotWritten) {
  put(0);
  const std::string before = read_file(file());
  ServiceOptions read_only = options();
  read_only.cache_mode = CacheMode::read_only;
  {
    LayeredStore store(read_only);
    ASSERT_TRUE(get(store, sample_artifact(0)));
    store.count({.hits = 1});
    EXPECT_EQ(stats_of(store).totals, (Totals{.hits = 1, .puts = 1}));
  }
  EXPECT_EQ(read_file(file()), before);
}

TEST_F(TotalsTest, AreNotCountedWhereThereIsNoCache) {
  {
    LayeredStore store(options());
    store.count({.misses = 1});
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "cache"));
  put(0);
  std::filesystem::remove(file());
  std::filesystem::permissions(folder_.path() / "cache", std::filesystem::perms(0777));
  {
    LayeredStore store(options());
    store.count({.misses = 1});
    EXPECT_EQ(stats_of(store).totals, (Totals{.misses = 1, .degraded = 1})) << "the folder is not trusted";
  }
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(TotalsTest, ALookAtABrokenCacheCountsNothing) {
  put(0);
  std::filesystem::permissions(database(), std::filesystem::perms(0666));
  EXPECT_EQ(totals().degraded, 1U);
  EXPECT_EQ(totals().degraded, 1U);
  std::filesystem::permissions(database(), std::filesystem::perms(0600));
  EXPECT_EQ(totals().degraded, 0U);
}

TEST_F(TotalsTest, AreWrittenNowAndThen) {
  put(0);
  Totals counted{.hits = 3};
  Tally often(*options().cache_dir, false, [&] { return counted; }, std::chrono::milliseconds(0));
  Tally seldom(*options().cache_dir, false, [&] { return counted; });
  often.write_if_due();
  seldom.write_if_due();
  EXPECT_EQ(read_totals(file()).hits, 3U);
  counted.hits = 5;
  often.write_if_due();
  EXPECT_EQ(read_totals(file()).hits, 5U) << "what is written already is not written again";
}

TEST_F(TotalsTest, WarnWhenEvictionsOutnumberHits) {
  put(0);
  EXPECT_TRUE(add_totals(file(), {.hits = 7, .evicted = 7}));
  LayeredStore store(options());
  EXPECT_EQ(stats_of(store).warning, "");
  EXPECT_TRUE(add_totals(file(), {.evicted = 1}));
  EXPECT_NE(stats_of(store).warning.find("KILN_CACHE_MAX_SIZE"), std::string::npos);
  ServiceOptions without_cap = options();
  without_cap.max_bytes = 0;
  LayeredStore unbounded(without_cap);
  EXPECT_EQ(stats_of(unbounded).warning, "") << "there is no cap to raise";
}

TEST_F(TotalsTest, AForkedChildCountsItsOwnOnly) {
  put(0);
  LayeredStore store(options());
  store.count({.hits = 1});
  test::ChildProcess child([&] {
    store.count({.hits = 10});
    store.~LayeredStore();
    return 0;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(to_totals(read_file(file())).hits, 10U);
  EXPECT_EQ(stats_of(store).totals.hits, 11U);
}

TEST_F(TotalsTest, AreAddedByManyAtOnce) {
  put(0);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this] {
      for (int j = 0; j < 50; ++j) {
        while (!add_totals(file(), {.hits = 1})) {
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(totals().hits, 400U);
}

TEST_F(TotalsTest, AreLostRatherThanWaitedFor) {
  put(0);
  const int held = ::open(file().c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  const auto begin = std::chrono::steady_clock::now();
  {
    LayeredStore store(options());
    store.count({.hits = 1});
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(500));
  EXPECT_EQ(totals().hits, 0U);
  ::close(held);
}

TEST_F(TotalsTest, MayBeDamaged) {
  const std::string names =
      "hits 1\nmisses -2\nputs 99999999999999999999\ncompiles \nunknown 7\nevicted\ncorrupt_dropped 3x\n\n  \ndegraded "
      " 5";
  EXPECT_EQ(to_totals(names), (Totals{.hits = 1, .degraded = 5}));
  EXPECT_EQ(to_totals(std::string(4096, '\0')), Totals{});
  put(0);
  write_file(file(), std::string(3000, 'x'));
  EXPECT_EQ(totals(), Totals{});
  EXPECT_TRUE(add_totals(file(), {.hits = 3}));
  EXPECT_EQ(totals(), (Totals{.hits = 3}));
  EXPECT_EQ(read_file(file()), to_text({.hits = 3})) << "nothing is left of what was there";
}

TEST_F(TotalsTest, AreKeptInNobodyElsesFile) {
  put(0);
  const std::filesystem::path other = folder_.path() / "other";
  write_file(other, "mine");
  std::filesystem::remove(file());
  std::filesystem::create_symlink(other, file());
  EXPECT_FALSE(add_totals(file(), {.hits = 1}));
  EXPECT_EQ(read_file(other), "mine");
  std::filesystem::remove(file());
  write_file(file(), to_text({.hits = 3}));
  std::filesystem::permissions(file(), std::filesystem::perms(0620));
  EXPECT_FALSE(add_totals(file(), {.hits = 1}));
  EXPECT_EQ(read_totals(file()), Totals{});
  std::filesystem::remove(file());
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  EXPECT_FALSE(add_totals(file(), {.hits = 1}));
  EXPECT_EQ(read_totals(file()), Totals{});
}

}  // namespace
}  // namespace kiln::cache
