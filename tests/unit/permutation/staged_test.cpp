#include "permutation/staged.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

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

// What was fastest of those that were measured on an H200.
TEST(ChooseStaged, TakesTheThreadsThatWereMeasured) {
  const auto check = [](unsigned element_bytes, std::int64_t size, unsigned lanes, unsigned threads,
                        unsigned resident) {
    std::vector<std::int64_t> sources;
    for (std::int64_t j = 0; j < size; ++j) {
      sources.push_back((j * 3 + 1) % size);  // no map that moves as wider units
    }
    const auto size_in = static_cast<std::uint64_t>(size);
    const std::optional<Staged> staged =
        choose_staged(blocks_of(sources, size_in, {.element_bytes = element_bytes}), 227 * 1024);
    ASSERT_TRUE(staged) << size;
    EXPECT_EQ(staged->lanes, lanes) << size;
    EXPECT_EQ(staged->threads, threads) << size;
    EXPECT_EQ(staged->resident_threads, resident) << size;
  };
  check(1, 997, 4, 384, 1024);  // sixteen rows make whole vectors
  check(1, 16'384, 4, 512, 1024);
  check(2, 4096, 2, 384, 1536);
  check(2, 8192, 2, 384, 1536);
  check(2, 16'384, 2, 768, 1024);
  check(4, 997, 1, 160, 2048);  // between vectors
  check(4, 4097, 1, 384, 2048);
  check(8, 997, 1, 288, 2048);
  check(8, 4097, 1, 512, 1536);
  check(4, 4096, 1, 1024, 2048);
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
