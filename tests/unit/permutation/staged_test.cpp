#include "permutation/staged.hpp"

#include <gtest/gtest.h>

namespace kiln::permutation {
namespace {

using Entries = std::vector<std::uint32_t>;

BlockMap blocks_of(const std::vector<std::int64_t>& sources, std::uint64_t source_size, const PermuteShape& shape) {
  return block_map(IndexMap(sources, source_size), shape);
}

TEST(StagedEntries, IsFilledUpToWholeVectors) {
  BlockMap blocks = blocks_of({2, 0, 1}, 3, {.element_bytes = 4});
  EXPECT_EQ(staged_entries({.index_bits = 8, .lanes = 1, .period_rows = 1}, blocks), (Entries{2, 0, 1, 0}));
  EXPECT_EQ(staged_entries({.index_bits = 16, .lanes = 1, .period_rows = 2}, blocks),
            (Entries{2, 0, 1, 5, 3, 4, 0, 0}));
}

TEST(StagedEntries, SpreadsBlocksIntoUnits) {
  BlockMap blocks = blocks_of({1, 0}, 2, {.element_bytes = 4, .inner = 3});
  EXPECT_EQ(staged_entries({.index_bits = 8, .lanes = 1, .period_rows = 1}, blocks), (Entries{3, 4, 5, 0, 1, 2, 0, 0}));
}

TEST(StagedEntries, CountsUnitsOfTheLane) {
  BlockMap blocks = blocks_of({2, 0, 1}, 4, {.element_bytes = 1});
  EXPECT_EQ(staged_entries({.index_bits = 8, .lanes = 4, .period_rows = 3}, blocks),
            (Entries{2, 0, 1, 6, 4, 5, 10, 8, 9, 0, 0, 0, 0, 0, 0, 0}));
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
