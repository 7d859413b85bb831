#include "kiln/artifact.hpp"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(Key, TextIsHighThenLowInHex) {
  EXPECT_EQ((Key{0x0123456789abcdef, 0xfedcba9876543210}).text(), "0123456789abcdeffedcba9876543210");
  EXPECT_EQ((Key{0, 1}).text(), "00000000000000000000000000000001");
}

TEST(Compiler, OrdersByVersionThenBuild) {
  EXPECT_LT((Compiler{12, 9, 86}), (Compiler{13, 0, 48}));
  EXPECT_LT((Compiler{13, 0, 48}), (Compiler{13, 0, 88}));
  EXPECT_EQ((Compiler{13, 0, 88}).text(), "nvrtc 13.0.88");
}

}  // namespace
}  // namespace kiln
