#include "cache/eviction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace kiln::cache {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t k_day = 86400;

TEST(Eviction, BringsTheTotalDownToFourFifths) {
  const std::vector<EvictionCandidate> rows{{7, 10, 1}, {3, 10, 2}, {9, 10, 3}, {1, 10, 4}};
  EXPECT_THAT(choose_evictions(101, 100, rows), ElementsAre(7, 3, 9));  // 101 - 30 <= 80, 101 - 20 is not
  EXPECT_THAT(choose_evictions(110, 100, rows), ElementsAre(7, 3, 9));
  EXPECT_THAT(choose_evictions(111, 100, rows), ElementsAre(7, 3, 9, 1));
}

TEST(Eviction, LeavesACacheWithinItsCapAlone) {
  const std::vector<EvictionCandidate> rows{{1, 10, 1}};
  EXPECT_THAT(choose_evictions(100, 100, rows), IsEmpty());
  EXPECT_THAT(choose_evictions(0, 100, rows), IsEmpty());
}

TEST(Eviction, NeverEvictsWithoutACap) {
  const std::vector<EvictionCandidate> rows{{1, 10, 1}};
  EXPECT_THAT(choose_evictions(std::numeric_limits<std::uint64_t>::max(), 0, rows), IsEmpty());
}

TEST(Eviction, TakesAllWhenAllDoNotSuffice) {
  const std::vector<EvictionCandidate> rows{{1, 1, 1}, {2, 0, 2}};
  EXPECT_THAT(choose_evictions(1000, 100, rows), ElementsAre(1, 2));
  EXPECT_THAT(choose_evictions(1000, 100, {}), IsEmpty());
}

TEST(Eviction, SurvivesSizesThatWouldOverflow) {
  const auto huge = std::numeric_limits<std::uint64_t>::max();
  const std::vector<EvictionCandidate> rows{{1, huge - 1, 1}, {2, huge, 2}, {3, huge, 3}};
  EXPECT_THAT(choose_evictions(huge, 10, rows), ElementsAre(1));
  EXPECT_EQ(eviction_goal(huge), 14757395258967641292u);  // 0.8 * (2^64 - 1)
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
