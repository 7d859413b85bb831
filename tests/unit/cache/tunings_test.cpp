// What a cache remembers of measured choices, and that databases with and without it are one format.
#include "cache/tunings.hpp"

#include <gtest/gtest.h>

#include "cache/layered_store.hpp"
#include "cache/pack_policy.hpp"
#include "maintenance_fixture.hpp"

namespace kiln::cache {
namespace {

class TuningsTest : public MaintenanceTest {
 protected:
  static Tuning tuning(std::uint64_t number) {
    return {to_digest(test::sample_artifact(number).key), 4, 1, 1024, "NVIDIA H200, sm_90"};
  }
  std::optional<std::string> find(const Tuning& tuning) const {
    return LayeredStore(options_).remembered_tuning(tuning);
  }
  bool keep(const Tuning& tuning, const std::string& strategy) const {
    return LayeredStore(options_).remember_tuning(tuning, strategy);
  }
  std::string raw(const std::string& sql) const { return test::RawDatabase(database()).text(sql); }
  Stats stats() const {
    LayeredStore store(options_);
    Stats stats;
    store.fill(stats);
    return stats;
  }
};

TEST_F(TuningsTest, AreFoundByAllThatTellsThemApart) {
  fill(1);
  const Tuning kept = tuning(1);
  EXPECT_EQ(find(kept), std::nullopt);
  EXPECT_TRUE(keep(kept, "staged"));
  EXPECT_EQ(find(kept), "staged");
  EXPECT_TRUE(keep(kept, "direct"));
  EXPECT_EQ(find(kept), "direct");
  EXPECT_EQ(find(tuning(2)), std::nullopt);
  Tuning other = kept;
  other.element_bytes = 2;
  EXPECT_EQ(find(other), std::nullopt);
  other = kept;
  other.inner = 2;
  EXPECT_EQ(find(other), std::nullopt);
  other = kept;
  other.rows = 0;
  EXPECT_EQ(find(other), std::nullopt);
  other = kept;
  other.device = "NVIDIA H100, sm_90";
  EXPECT_EQ(find(other), std::nullopt);
  EXPECT_EQ(stats().layers.front().tunings, 1U);
}

TEST_F(TuningsTest, AreOneFormatWithDatabasesWithoutThem) {
  fill(2);
  EXPECT_EQ(raw("SELECT count(*) FROM sqlite_schema WHERE name = 'tunings'"), "0") << "made by the first";
  const std::string version = raw("PRAGMA user_version");
  EXPECT_TRUE(keep(tuning(1), "staged"));
  EXPECT_EQ(raw("PRAGMA user_version"), version);
  EXPECT_EQ(raw("PRAGMA integrity_check"), "ok");
  EXPECT_TRUE(has(1) && has(2));
  // What a version does that knows nothing of them: it leaves them alone.
  test::RawDatabase(database()).execute("DELETE FROM artifacts");
  EXPECT_EQ(find(tuning(1)), "staged");
  // Without the table they are forgotten, and kept again.
  test::RawDatabase(database()).execute("DROP TABLE tunings");
  EXPECT_EQ(find(tuning(1)), std::nullopt);
  EXPECT_EQ(stats().layers.front().tunings, 0U);
  EXPECT_TRUE(keep(tuning(1), "direct"));
  EXPECT_EQ(find(tuning(1)), "direct");
}

TEST_F(TuningsTest, OfAnotherVersionsTableAreLeftAlone) {
  fill(1);
  for (const char* table : {"CREATE TABLE tunings(strategy TEXT)", "CREATE VIEW tunings AS SELECT 1 AS strategy",
                            "CREATE INDEX tunings ON artifacts(created)"}) {
    test::RawDatabase(database()).execute(table);
    EXPECT_EQ(find(tuning(1)), std::nullopt) << table;
    EXPECT_FALSE(keep(tuning(1), "staged"));
    EXPECT_EQ(stats().layers.front().tunings, 0U);
    EXPECT_EQ(stats().degraded, 0U);
    EXPECT_TRUE(has(1)) << "the cache is as good as before";
    EXPECT_EQ(raw("SELECT sql FROM sqlite_schema WHERE name = 'tunings'"), table);
    const std::string kind = raw("SELECT type FROM sqlite_schema WHERE name = 'tunings'");
    test::RawDatabase(database()).execute("DROP " + kind + " tunings");
  }
}

TEST_F(TuningsTest, AreBounded) {
  fill(1);
  EXPECT_TRUE(keep(tuning(1), "staged"));
  EXPECT_TRUE(keep(tuning(2), "staged"));
  test::RawDatabase(database())
      .execute(
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4095) INSERT INTO tunings(map, "
          "element_bytes, inner, rows, device, strategy, measured) SELECT randomblob(16), 4, 1, 0, 'x', 'direct', 0 "
          "FROM n");
  EXPECT_TRUE(keep(tuning(2), "direct"));
  EXPECT_EQ(stats().layers.front().tunings, 4096U) << "and the oldest is gone";
  EXPECT_EQ(find(tuning(1)), std::nullopt);
  EXPECT_EQ(find(tuning(2)), "direct");
}

TEST_F(TuningsTest, GoWithAllElse) {
  fill(3);
  EXPECT_TRUE(keep(tuning(1), "staged"));
  EXPECT_EQ(LayeredStore(options_).clear(), 3U) << "kernels";
  EXPECT_EQ(find(tuning(1)), std::nullopt);
}

TEST_F(TuningsTest, StayOutOfPacks) {
  fill(2);
  EXPECT_TRUE(keep(tuning(1), "staged"));
  const auto pack = root_ / "made.kilnpack";
  export_cache(options_, pack);
  EXPECT_EQ(test::RawDatabase(pack).text("SELECT count(*) FROM sqlite_schema WHERE name = 'tunings'"), "0");
  ServiceOptions other;
  other.cache_dir = root_ / "other";
  import_cache(other, {pack});
  EXPECT_EQ(LayeredStore(other).remembered_tuning(tuning(1)), std::nullopt);
}

TEST_F(TuningsTest, AreReadButNotWrittenWhereTheCacheIsReadOnly) {
  fill(1);
  EXPECT_TRUE(keep(tuning(1), "staged"));
  options_.cache_mode = CacheMode::read_only;
  EXPECT_EQ(find(tuning(1)), "staged");
  EXPECT_FALSE(keep(tuning(2), "staged"));
  options_.cache_mode = CacheMode::read_write;
  EXPECT_EQ(find(tuning(2)), std::nullopt);
}

TEST_F(TuningsTest, AreNotWorthMakingACacheFor) {
  EXPECT_FALSE(keep(tuning(1), "staged"));
  EXPECT_EQ(find(tuning(1)), std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(database()));
  options_.cache_mode = CacheMode::off;
  EXPECT_FALSE(keep(tuning(1), "staged"));
  EXPECT_EQ(find(tuning(1)), std::nullopt);
}

}  // namespace
}  // namespace kiln::cache
