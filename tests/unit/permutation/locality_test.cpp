#include "permutation/locality.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace kiln::permutation {
namespace {

using Sources = std::vector<std::uint32_t>;

double amplification(const Sources& sources, unsigned bytes, std::uint64_t inner = 1) {
  const IndexMap map(std::span<const std::uint32_t>(sources), sources.size());
  return read_amplification(block_map(map, {.element_bytes = bytes, .inner = inner}));
}

Sources ascending(std::size_t size) {
  Sources sources(size);
  std::iota(sources.begin(), sources.end(), 0U);
  return sources;
}

Sources shuffled(std::size_t size) {
  Sources sources = ascending(size);
  std::shuffle(sources.begin(), sources.end(), std::mt19937(7));
  return sources;
}

TEST(ReadAmplification, IsOneWhereNeighboursComeFromNeighbours) {
  Sources reversal = ascending(4096);
  std::reverse(reversal.begin(), reversal.end());
  EXPECT_EQ(amplification(reversal, 4), 1.0);
  Sources in_sectors = ascending(4096);  // neighbours swapped
  for (std::size_t at = 0; at < in_sectors.size(); at += 2) {
    std::swap(in_sectors[at], in_sectors[at + 1]);
  }
  EXPECT_EQ(amplification(in_sectors, 8), 1.0);
}

TEST(ReadAmplification, CountsTheSectorThatIsLeftUnread) {
  Sources rotation = ascending(4096);
  std::rotate(rotation.begin(), rotation.begin() + 1, rotation.end());
  // 127 warps of 32 floats touch 5 sectors instead of 4, and so does the last, which wraps round.
  EXPECT_EQ(amplification(rotation, 4), 1.25);
}

TEST(ReadAmplification, OfLongerPiecesIsMore) {
  Sources strided(64 * 64);
  for (std::size_t at = 0; at < strided.size(); ++at) {
    strided[at] = static_cast<std::uint32_t>(at % 64 * 64 + at / 64);
  }
  const IndexMap map(std::span<const std::uint32_t>(strided), strided.size());
  EXPECT_EQ(read_amplification(block_map(map, {}), 64), 16.0);
  EXPECT_EQ(read_amplification(block_map(Permutation::identity(64), {}), 64), 1.0);
}

TEST(ReadAmplification, IsAWholeSectorAUnitWhereNothingIsNear) {
  Sources strided(64 * 64);
  for (std::size_t at = 0; at < strided.size(); ++at) {
    strided[at] = static_cast<std::uint32_t>(at % 64 * 64 + at / 64);
  }
  EXPECT_EQ(amplification(strided, 4), 8.0);
  EXPECT_EQ(amplification(strided, 1), 32.0);
  EXPECT_NEAR(amplification(shuffled(1 << 20), 4), 8.0, 0.01);
  EXPECT_NEAR(amplification(shuffled(1 << 20), 8), 4.0, 0.01);
}

TEST(ReadAmplification, CountsUnitsOfABlockTogether) {
  // Three floats from a place in a sector that is anywhere: in two places of eight they are in two sectors.
  EXPECT_NEAR(amplification(shuffled(1 << 18), 4, 3), 10.0 / 3, 0.1);
}

TEST(ReadAmplification, TakesRowsShorterThanAWarp) { EXPECT_EQ(amplification({2, 0, 1}, 4), 32.0 / 12); }

double share(const Sources& sources, std::uint64_t source_size, unsigned bytes, std::uint64_t inner = 1) {
  const IndexMap map(std::span<const std::uint32_t>(sources), source_size);
  return read_share(block_map(map, {.element_bytes = bytes, .inner = inner}));
}

TEST(ReadShare, OfAPermutationIsOne) {
  EXPECT_EQ(share(shuffled(4096), 4096, 4), 1.0);
  EXPECT_EQ(share(shuffled(37), 37, 1), 1.0);       // less than a piece
  EXPECT_EQ(share(shuffled(50), 50, 4, 100), 1.0);  // more than one each
}

TEST(ReadShare, CountsWholePieces) {
  EXPECT_EQ(share({0, 500}, 1000, 4), 16.0);          // two pieces of 64 bytes for two floats
  EXPECT_EQ(share({5, 3, 5, 4}, 1000, 4), 4.0);       // all in one
  EXPECT_EQ(share({5, 0}, 7, 4, 12), 64.0 * 3 / 96);  // 48 bytes at 240, over the end of a piece, and at 0
}

TEST(ReadShare, IsLessWhereUnitsAreRepeated) {
  EXPECT_EQ(share(Sources(64, 7), 16, 4), 64.0 / 256);
  EXPECT_EQ(share({1, 0, 1, 1}, 2, 4, 100), 0.5);
}

}  // namespace
}  // namespace kiln::permutation
