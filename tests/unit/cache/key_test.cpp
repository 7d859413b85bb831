#include "cache/key.hpp"

#include <gtest/gtest.h>

#include "cache/spec.hpp"

namespace kiln::cache {
namespace {

TEST(Key, IsXxh3) {
  // The published value for no input, and one of the reference program's (xxh128sum of "abc").
  EXPECT_EQ(key_of("").text(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(key_of("abc").text(), "06b05ab6733a618578af5f94892f3950");
}

TEST(Key, DigestsAreBigEndian) {
  Key key{0x0123456789ABCDEF, 0xFEDCBA9876543210};
  Digest digest = to_digest(key);
  EXPECT_EQ(digest[0], std::byte{0x01});
  EXPECT_EQ(digest[7], std::byte{0xEF});
  EXPECT_EQ(digest[8], std::byte{0xFE});
  EXPECT_EQ(digest[15], std::byte{0x10});
  EXPECT_EQ(to_key(digest), key);
  EXPECT_FALSE(to_key(std::span(digest).first(15)));
  EXPECT_FALSE(to_key({}));
}

TEST(Key, RangesOfPrefixes) {
  auto range = key_range("");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first.text(), "00000000000000000000000000000000");
  EXPECT_EQ(range->second.text(), "ffffffffffffffffffffffffffffffff");
  range = key_range("aB3");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first.text(), "ab300000000000000000000000000000");
  EXPECT_EQ(range->second.text(), "ab3fffffffffffffffffffffffffffff");
  range = key_range("0123456789abcdef01");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first.text(), "0123456789abcdef0100000000000000");
  EXPECT_EQ(range->second.text(), "0123456789abcdef01ffffffffffffff");
  range = key_range("0123456789abcdef0123456789abcdef");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, range->second);
  EXPECT_FALSE(key_range("0123456789abcdef0123456789abcdef0"));
  EXPECT_FALSE(key_range("12x"));
  EXPECT_FALSE(key_range(" "));
}

TEST(Hasher, TellsApartWhereAPieceEnds) {
  Hasher one;
  one.add(std::string_view("ab"));
  one.add(std::string_view("c"));
  Hasher other;
  other.add(std::string_view("a"));
  other.add(std::string_view("bc"));
  EXPECT_NE(one.digest(), other.digest());
}

}  // namespace
}  // namespace kiln::cache
