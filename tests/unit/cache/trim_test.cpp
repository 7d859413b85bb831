#include <chrono>
#include <ctime>

#include "unit/cache/maintenance_fixture.hpp"

namespace kiln::cache {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TrimTest : public MaintenanceTest {
 protected:
  /// Row `number` was last used that many days ago.
  void age(std::uint64_t number, std::int64_t days) {
    test::RawDatabase(database())
        .execute("UPDATE artifacts SET last_used = " + std::to_string(std::time(nullptr) - days * 86400) +
                 " WHERE key = " + key_sql(number));
  }
};

TEST_F(TrimTest, RemovesWhatWasNotUsedForSoLong) {
  fill(6);
  age(2, 40);
  age(5, 20);
  const auto result = trim(options_, {.unused_for = 24h * 30});
  ASSERT_THAT(result.removed, SizeIs(1));
  EXPECT_EQ(result.removed[0].key, test::sample_artifact(2).key);
  EXPECT_EQ(result.removed[0].layer, "user");
  EXPECT_EQ(result.removed[0].template_name, "sample.cu");
  EXPECT_FALSE(has(2));
  EXPECT_TRUE(has(5));
}

TEST_F(TrimTest, BringsTheFileBelowASizeLeastRecentlyUsedFirst) {
  fill(options_, 1, 50, 20000);
  for (std::uint64_t number = 1; number <= 50; ++number) {
    age(number, static_cast<std::int64_t>(number));  // 50 is the oldest
  }
  const auto result = trim(options_, {.max_bytes = 500000});
  EXPECT_GT(result.bytes_before, 1000000u);
  EXPECT_LE(result.bytes_after, 500000u);
  EXPECT_GT(result.bytes_after, 300000u) << "far more was removed than had to be";
  EXPECT_EQ(std::filesystem::file_size(database()), result.bytes_after);
  ASSERT_FALSE(result.removed.empty());
  for (std::size_t i = 0; i < result.removed.size(); ++i) {
    EXPECT_EQ(result.removed[i].key, test::sample_artifact(50 - i).key);
  }
  EXPECT_EQ(verify(options_).checked, 50 - result.removed.size());
}

TEST_F(TrimTest, ADryRunListsTheSameAndChangesNothing) {
  fill(options_, 1, 30, 20000);
  for (std::uint64_t number = 1; number <= 30; ++number) {
    age(number, static_cast<std::int64_t>(number));
  }
  const TrimOptions dry{.max_bytes = 300000, .dry_run = true};
  const auto foretold = trim(options_, dry);
  EXPECT_EQ(verify(options_).checked, 30u);
  EXPECT_LE(foretold.bytes_after, 300000u);
  const auto done = trim(options_, {.max_bytes = 300000});
  ASSERT_GE(done.removed.size(), foretold.removed.size());
  EXPECT_LE(done.removed.size() - foretold.removed.size(), 2u);
  for (std::size_t i = 0; i < foretold.removed.size(); ++i) {
    EXPECT_EQ(done.removed[i].key, foretold.removed[i].key);
  }
}

TEST_F(TrimTest, EmptiesTheCacheWhenAskedTo) {
  fill(10);
  EXPECT_THAT(trim(options_, {.max_bytes = 0}).removed, SizeIs(10));
  EXPECT_EQ(verify(options_).checked, 0u);
  fill(10);
  EXPECT_THAT(trim(options_, {.unused_for = 0s}).removed, SizeIs(10));
  fill(3);
  EXPECT_THAT(trim(options_, {.unused_for = -5s}).removed, SizeIs(3));
}

TEST_F(TrimTest, KeepsAllWithoutALimitOrWithinIt) {
  fill(5);
  EXPECT_THAT(trim(options_, {}).removed, IsEmpty());
  EXPECT_THAT(trim(options_, {.max_bytes = std::uint64_t{1} << 40}).removed, IsEmpty());
  EXPECT_THAT(trim(options_, {.unused_for = std::chrono::seconds::max()}).removed, IsEmpty());
  EXPECT_EQ(verify(options_).checked, 5u);
}

TEST_F(TrimTest, ACacheThatDoesNotExistIsLeftSo) {
  EXPECT_THAT(trim(options_, {.max_bytes = 0}).removed, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(*options_.cache_dir));
}

TEST_F(TrimTest, ReturnsTheSpaceBesideAServiceThatUsesTheCache) {
  LayeredStore store(options_);
  for (std::uint64_t number = 1; number <= 30; ++number) {
    ASSERT_TRUE(store.put(test::sample_artifact(number, 20000)));
  }
  const auto result = trim(options_, {.max_bytes = 100000});
  EXPECT_LE(result.bytes_after, 100000u);
  EXPECT_TRUE(store.put(test::sample_artifact(1, 20000)));
  EXPECT_TRUE(has(1));
}

TEST_F(TrimTest, RefusesToChangeAReadOnlyCache) {
  fill(3);
  options_.cache_mode = CacheMode::read_only;
  EXPECT_THAT(trim(options_, {.max_bytes = 0, .dry_run = true}).removed, SizeIs(3));
  EXPECT_THROW(trim(options_, {.max_bytes = 0}), StoreError);
}

TEST_F(TrimTest, TellsOfADamagedDatabase) {
  fill(3);
  std::filesystem::resize_file(database(), 4096);
  EXPECT_THROW(trim(options_, {.max_bytes = 0}), StoreError);
}

}  // namespace
}  // namespace kiln::cache
