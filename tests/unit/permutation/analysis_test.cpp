#include "permutation/analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "kiln/error.hpp"

namespace kiln::permutation {
namespace {

IndexMap make(const std::vector<std::int64_t>& sources, std::uint64_t source_size) { return {sources, source_size}; }

/// A map of groups as the map of positions that it stands for.
IndexMap spread(const IndexMap& groups, std::uint64_t group) {
  std::vector<std::int64_t> sources;
  for (std::uint32_t source : groups.sources()) {
    for (std::uint64_t index = 0; index < group; ++index) {
      sources.push_back(static_cast<std::int64_t>(source * group + index));
    }
  }
  return make(sources, groups.source_size() * group);
}

TEST(MovingGroup, OfTheIdentityIsAllOfIt) { EXPECT_EQ(moving_group(Permutation::identity(36)), 36U); }

TEST(MovingGroup, IsOneWhereNothingMovesTogether) {
  EXPECT_EQ(moving_group(make({2, 1, 0}, 3)), 1U);
  EXPECT_EQ(moving_group(make({0, 0}, 2)), 1U);
  EXPECT_EQ(moving_group(make({0}, 1)), 1U);
}

TEST(MovingGroup, NeedsAlignedSources) {
  EXPECT_EQ(moving_group(make({2, 3, 0, 1}, 4)), 2U);
  EXPECT_EQ(moving_group(make({1, 2, 3, 0}, 4)), 1U);  // a rotation: the neighbours stay together, but unaligned
  EXPECT_EQ(moving_group(make({1, 2}, 4)), 1U);
}

TEST(MovingGroup, DividesBothSizes) {
  EXPECT_EQ(moving_group(make({0, 1, 2, 3}, 6)), 2U);
  EXPECT_EQ(moving_group(make({0, 1, 2, 3}, 5)), 1U);
  EXPECT_EQ(moving_group(make({4, 5, 6, 7}, 8)), 4U);
}

TEST(MovingGroup, MayRepeatSources) { EXPECT_EQ(moving_group(make({2, 3, 2, 3, 0, 1}, 4)), 2U); }

TEST(MovingGroup, IsFoundInRandomMapsOfGroups) {
  std::mt19937 random(4);
  for (std::uint64_t group : {2U, 3U, 4U, 12U, 64U}) {
    std::vector<std::int64_t> order(37);
    std::iota(order.rbegin(), order.rend(), 0);
    std::shuffle(order.begin() + 2, order.end(), random);  // 36, 35, …: no two groups stay together
    IndexMap groups = make(order, order.size());
    IndexMap map = spread(groups, group);
    EXPECT_EQ(moving_group(map), group);
    EXPECT_EQ(map_of_groups(map, group), groups);
  }
}

TEST(BlockMap, WidensToWhatDividesABlock) {
  struct Case {
    unsigned element_bytes;
    std::uint64_t inner;
    unsigned unit_bytes;
    std::uint64_t units;
  };
  for (const Case& expected : {Case{4, 1, 4, 1}, Case{4, 2, 8, 1}, Case{4, 3, 4, 3}, Case{1, 16, 16, 1},
                               Case{2, 24, 16, 3}, Case{16, 5, 16, 5}, Case{1, 7, 1, 7}, Case{8, 64, 16, 32}}) {
    BlockMap blocks = block_map(make({2, 1, 0}, 3), {.element_bytes = expected.element_bytes, .inner = expected.inner});
    EXPECT_EQ(blocks.unit_bytes, expected.unit_bytes) << expected.element_bytes << " * " << expected.inner;
    EXPECT_EQ(blocks.units, expected.units) << expected.element_bytes << " * " << expected.inner;
    EXPECT_EQ(blocks.element_bytes, expected.element_bytes);
    EXPECT_EQ(blocks.row_in_units(), 3 * expected.units);
  }
}

TEST(BlockMap, FoldsGroupsOfTheMapToo) {
  BlockMap blocks = block_map(spread(make({2, 1, 0, 4}, 5), 4), {.element_bytes = 4});
  EXPECT_EQ(blocks.map, make({2, 1, 0, 4}, 5));
  EXPECT_EQ(blocks.unit_bytes, 16U);
  EXPECT_EQ(blocks.units, 1U);
  BlockMap identity = block_map(Permutation::identity(36), {.element_bytes = 4});
  EXPECT_EQ(identity.map.size(), 1U);
  EXPECT_EQ(identity.units * identity.unit_bytes, 144U);
}

std::string refusal(const PermuteShape& shape) {
  try {
    block_map(make({1, 0}, 2), shape);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(BlockMap, RefusesElementSizesThatNoTypeHas) {
  for (unsigned bytes : {0U, 3U, 12U, 32U}) {
    EXPECT_EQ(refusal({.element_bytes = bytes}),
              "element_bytes is " + std::to_string(bytes) + ": it must be 1, 2, 4, 8 or 16");
  }
}

TEST(BlockMap, RefusesInnerSizesThatCannotBe) {
  EXPECT_THAT(refusal({.inner = 0}), testing::HasSubstr("inner is 0"));
  EXPECT_THAT(refusal({.inner = std::uint64_t{1} << 46}), testing::HasSubstr("longer than 2^48 bytes"));
  EXPECT_THAT(refusal({.inner = ~std::uint64_t{0}}), testing::HasSubstr("longer than 2^48 bytes"));
  EXPECT_EQ(refusal({.inner = std::uint64_t{1} << 45}), "nothing was thrown");
}

}  // namespace
}  // namespace kiln::permutation
