#include "permutation/shared_banks.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace kiln::permutation {
namespace {

TileSide side_of(std::vector<TileDigit> digits, unsigned units) {
  TileSide side;
  side.digits = std::move(digits);
  side.units = units;
  return side;
}

TEST(SharedBanks, AnswerAWarpOfNeighboursAtOnce) {
  // 64 words, two warps.
  EXPECT_EQ(bank_cycles(side_of({{64, 1, 4, 0, 0}}, 1), 4, 4), 2U * 2);
}

TEST(SharedBanks, AnswerOneAfterAnotherInOneBank) {
  // Columns of a tile of 32 x 64 words: rows are 128 bytes apart, or one word more.
  EXPECT_EQ(bank_cycles(side_of({{32, 1, 128, 0, 0}, {2, 32, 4, 0, 0}}, 1), 4, 4), 2U * 32 * 2);
  EXPECT_EQ(bank_cycles(side_of({{32, 1, 132, 0, 0}, {2, 32, 4, 0, 0}}, 1), 4, 4), 2U * 2);
  // Upwards or downwards.
  EXPECT_EQ(bank_cycles(side_of({{32, 1, -128, 0, 0}, {2, 32, 4, 0, 0}}, 1), 4, 4), 2U * 32 * 2);
}

TEST(SharedBanks, AnswerForOneWordOnce) {
  // Four bytes of a word, and 32 threads that read the same.
  EXPECT_EQ(bank_cycles(side_of({{64, 1, 1, 0, 0}}, 1), 1, 1), 2U * 2);
  EXPECT_EQ(bank_cycles(side_of({{64, 1, 0, 0, 0}}, 1), 4, 4), 2U * 2);
}

TEST(SharedBanks, AnswerWideAccessesForAQuarterOfAWarp) {
  // 64 vectors of 16 bytes: a quarter of a warp has 8 of them, in 32 banks.
  EXPECT_EQ(bank_cycles(side_of({{256, 1, 4, 0, 0}}, 4), 4, 16), 2U * 4 * 2);
}

TEST(SharedPiece, EndsWhereUnitsAreNoNeighbours) {
  EXPECT_EQ(shared_piece_bytes(side_of({{64, 1, 4, 0, 0}}, 4), 4), 16U);
  EXPECT_EQ(shared_piece_bytes(side_of({{32, 1, 4, 0, 0}, {4, 32, 132, 0, 0}}, 4), 4), 4U);
  EXPECT_EQ(shared_piece_bytes(side_of({{32, 1, 4, 0, 0}, {4, 32, 136, 0, 0}}, 4), 4), 8U);
  EXPECT_EQ(shared_piece_bytes(side_of({{2, 1, 4, 0, 0}, {4, 2, 16, 0, 0}}, 4), 4), 8U);
  EXPECT_EQ(shared_piece_bytes(side_of({{64, 1, 1, 0, 0}}, 2), 1), 2U);
}

double cycles_of(const std::vector<std::uint32_t>& sources, unsigned bytes, unsigned lanes = 1,
                 WordOrder order = WordOrder::plain) {
  const IndexMap map(std::span<const std::uint32_t>(sources), sources.size());
  return gather_cycles(block_map(map, {.element_bytes = bytes}), lanes, order);
}

TEST(GatherCycles, OfATransposeAreMany) {
  std::vector<std::uint32_t> sources(4096);
  for (std::size_t at = 0; at < sources.size(); ++at) {
    sources[at] = static_cast<std::uint32_t>(at % 64 * 64 + at / 64);
  }
  // A warp's vectors are in two columns; of each, 16 units of one bank.
  EXPECT_EQ(cycles_of(sources, 4), 16.0);
  EXPECT_EQ(cycles_of(sources, 4, 1, WordOrder::swizzled), 16.0);
  // A vector of bytes is longer: the warp's are in eight columns, four units of each.
  EXPECT_EQ(cycles_of(sources, 1, 4), 4.0);
  std::iota(sources.rbegin(), sources.rend(), 0U);
  EXPECT_EQ(cycles_of(sources, 4), 4.0);
  EXPECT_EQ(cycles_of({0, 2, 1}, 4), 1.0) << "too few for a warp";
}

TEST(GatherCycles, OfABitReversalAreFewWhereWordsAreSwizzled) {
  std::vector<std::uint32_t> sources(4096);
  for (std::uint32_t at = 0; at < sources.size(); ++at) {
    for (unsigned bit = 0; bit < 12; ++bit) {
      sources[at] |= (at >> bit & 1) << (11 - bit);
    }
  }
  // A warp's units are 128 bytes apart, all in one bank; swizzled, eight places of a vector are told apart.
  EXPECT_EQ(cycles_of(sources, 4), 32.0);
  EXPECT_EQ(cycles_of(sources, 4, 1, WordOrder::swizzled), 4.0);
}

}  // namespace
}  // namespace kiln::permutation
