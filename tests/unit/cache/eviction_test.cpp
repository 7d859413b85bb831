#include "cache/eviction.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kiln::cache {
namespace {

constexpr std::int64_t k_day = 86400;

TEST(Eviction, GoesOnDownToFourFifths) {
  EXPECT_TRUE(evict_more(101, 100, 0));
  EXPECT_TRUE(evict_more(100, 100, 1));
  EXPECT_TRUE(evict_more(81, 100, 2));
  EXPECT_FALSE(evict_more(80, 100, 3));
  EXPECT_FALSE(evict_more(0, 100, 0));
}

TEST(Eviction, TakesABatchAtOnceAndMoreOnlyAboveTheCap) {
  EXPECT_TRUE(evict_more(100, 100, k_eviction_batch - 1));
  EXPECT_FALSE(evict_more(100, 100, k_eviction_batch));
  EXPECT_TRUE(evict_more(101, 100, k_eviction_batch));
  EXPECT_TRUE(evict_more(101, 100, 1'000'000));
}

TEST(Eviction, NeverEvictsWithoutACap) { EXPECT_FALSE(evict_more(std::numeric_limits<std::uint64_t>::max(), 0, 0)); }

TEST(Eviction, SurvivesSizesThatWouldOverflow) {
  const auto huge = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(eviction_goal(huge), 14757395258967641292u);  // 0.8 * (2^64 - 1)
  EXPECT_TRUE(evict_more(huge, 10, 1000));
  EXPECT_FALSE(evict_more(eviction_goal(huge), huge, 0));
}

TEST(Eviction, GoalIsFourFifthsOfTheCap) {
  EXPECT_EQ(eviction_goal(1u << 30), 858993460u);
  EXPECT_EQ(eviction_goal(100), 80u);
  EXPECT_EQ(eviction_goal(1), 1u);
}

TEST(Touch, AtMostOnceADay) {
  EXPECT_FALSE(should_touch(1000000, 1000000));
  EXPECT_FALSE(should_touch(1000000, 1000000 + k_day - 1));
  EXPECT_TRUE(should_touch(1000000, 1000000 + k_day));
}

TEST(Touch, BringsBackATimeFromBeforeTheClockWasSetBack) {
  EXPECT_FALSE(should_touch(1000000 + k_day - 1, 1000000));
  EXPECT_TRUE(should_touch(1000000 + k_day, 1000000));
  EXPECT_TRUE(should_touch(1000000 + 3650 * k_day, 1000000));
}

TEST(Touch, TakesAnyTimeADamagedRowMayHold) {
  const auto lowest = std::numeric_limits<std::int64_t>::min();
  const auto highest = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(should_touch(lowest, highest));
  EXPECT_TRUE(should_touch(highest, lowest));
  EXPECT_FALSE(should_touch(lowest, lowest));
}

TEST(EvictionWarning, WhenEvictionsOutnumberHits) {
  EXPECT_FALSE(evictions_outnumber_hits(0, 0));
  EXPECT_FALSE(evictions_outnumber_hits(5, 5));
  EXPECT_TRUE(evictions_outnumber_hits(6, 5));
}

}  // namespace
}  // namespace kiln::cache
