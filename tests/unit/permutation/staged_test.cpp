#include "permutation/staged.hpp"

#include <gtest/gtest.h>

namespace kiln::permutation {
namespace {

using Words = std::vector<std::uint64_t>;

BlockMap blocks_of(const std::vector<std::int64_t>& sources, std::uint64_t source_size, const PermuteShape& shape) {
  return block_map(IndexMap(sources, source_size), shape);
}

TEST(StagedTable, IsFilledUpToWholeVectors) {
  BlockMap blocks = blocks_of({2, 0, 1}, 3, {.element_bytes = 4});
  EXPECT_EQ(staged_table({.index_bits = 8, .lanes = 1, .period_rows = 1}, blocks), (Words{0x00010002}));
  EXPECT_EQ(staged_table({.index_bits = 16, .lanes = 1, .period_rows = 2}, blocks),
            (Words{0x0005000100000002, 0x0000000000040003}));
}

TEST(StagedTable, SpreadsBlocksIntoUnits) {
  BlockMap blocks = blocks_of({1, 0}, 2, {.element_bytes = 4, .inner = 3});
  EXPECT_EQ(staged_table({.index_bits = 8, .lanes = 1, .period_rows = 1}, blocks), (Words{0x0201000504030000 >> 16}));
}

TEST(StagedTable, CountsUnitsOfTheLane) {
  BlockMap blocks = blocks_of({2, 0, 1}, 4, {.element_bytes = 1});
  EXPECT_EQ(staged_table({.index_bits = 8, .lanes = 4, .period_rows = 3}, blocks), (Words{0x080a050406010002, 0x09}));
}

TEST(StagedSharedBytes, HaveRoomForATileAtAnyPhase) {
  BlockMap blocks = blocks_of({1, 0, 2, 4, 3}, 5, {.element_bytes = 1});
  EXPECT_EQ(shared_bytes({.lanes = 1, .period_rows = 1, .rows_per_tile = 22}, blocks), 128U);
  EXPECT_EQ(shared_bytes({.lanes = 1, .period_rows = 1, .rows_per_tile = 23}, blocks), 256U);
}

TEST(StagedSharedBytes, HoldWholeVectorsOfEachLane) {
  BlockMap blocks = blocks_of({1, 0, 2, 4, 3}, 5, {.element_bytes = 1});
  EXPECT_EQ(shared_bytes({.lanes = 4, .period_rows = 6, .rows_per_tile = 24}, blocks), 128U);
  EXPECT_EQ(shared_bytes({.lanes = 4, .period_rows = 7, .rows_per_tile = 28}, blocks), 256U);
}

}  // namespace
}  // namespace kiln::permutation
