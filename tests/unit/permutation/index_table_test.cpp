#include "permutation/index_table.hpp"

#include <gtest/gtest.h>

namespace kiln::permutation {
namespace {

using Words = std::vector<std::uint64_t>;

IndexMap make(const std::vector<std::int64_t>& sources, std::uint64_t source_size) { return {sources, source_size}; }

TEST(IndexTable, StartsInTheLowestBits) {
  IndexMap map = make({1, 2, 3}, 4);
  EXPECT_EQ(pack_table(map, 1, 1, 8), (Words{0x030201}));
  EXPECT_EQ(pack_table(map, 1, 1, 16), (Words{0x000300020001}));
  EXPECT_EQ(pack_table(map, 1, 1, 32), (Words{0x0000000200000001, 0x3}));
}

TEST(IndexTable, FillsWordAfterWord) {
  EXPECT_EQ(pack_table(make({8, 7, 6, 5, 4, 3, 2, 1, 0}, 9), 1, 1, 8), (Words{0x0102030405060708, 0x00}));
  EXPECT_EQ(pack_table(make({65535, 0, 258, 1}, 65536), 1, 1, 16), (Words{0x000101020000ffff}));
  EXPECT_EQ(pack_table(make({4294967294, 1}, 4294967295), 1, 1, 32), (Words{0x00000001fffffffe}));
}

TEST(IndexTable, GoesOnOverRows) { EXPECT_EQ(pack_table(make({1, 0}, 3), 1, 3, 8), (Words{0x060703040001})); }

TEST(IndexTable, SpreadsBlocksIntoUnits) {
  EXPECT_EQ(pack_table(make({1, 0}, 2), 3, 1, 8), (Words{0x020100050403}));
  EXPECT_EQ(pack_table(make({1, 0}, 2), 2, 2, 8), (Words{0x0504070601000302}));
}

}  // namespace
}  // namespace kiln::permutation
