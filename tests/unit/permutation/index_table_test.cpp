#include "permutation/index_table.hpp"

#include <gtest/gtest.h>

namespace kiln::permutation {
namespace {

using Words = std::vector<std::uint64_t>;

IndexMap make(const std::vector<std::int64_t>& sources, std::uint64_t source_size) { return {sources, source_size}; }

TEST(IndexTable, StartsInTheLowestBits) {
  IndexMap map = make({1, 2, 3}, 4);
  EXPECT_EQ(pack_table(map, 8), (Words{0x030201}));
  EXPECT_EQ(pack_table(map, 16), (Words{0x000300020001}));
  EXPECT_EQ(pack_table(map, 32), (Words{0x0000000200000001, 0x3}));
}

TEST(IndexTable, FillsWordAfterWord) {
  EXPECT_EQ(pack_table(make({8, 7, 6, 5, 4, 3, 2, 1, 0}, 9), 8), (Words{0x0102030405060708, 0x00}));
  EXPECT_EQ(pack_table(make({65535, 0, 258, 1}, 65536), 16), (Words{0x000101020000ffff}));
  EXPECT_EQ(pack_table(make({4294967294, 1}, 4294967295), 32), (Words{0x00000001fffffffe}));
}

TEST(IndexTable, PacksEntriesOfAnyOrigin) {
  const std::vector<std::uint32_t> entries{7, 256, 65'535};
  EXPECT_EQ(pack_entries(entries, 16), (Words{0xffff01000007}));
  EXPECT_EQ(pack_entries({}, 8), Words{});
}

}  // namespace
}  // namespace kiln::permutation
