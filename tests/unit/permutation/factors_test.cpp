#include "permutation/factors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace kiln::permutation {
namespace {

using Sources = std::vector<std::uint32_t>;

std::optional<Factors> factors_of(const Sources& sources, std::uint64_t source_size = 0, PermuteShape shape = {}) {
  const IndexMap map(std::span<const std::uint32_t>(sources), source_size == 0 ? sources.size() : source_size);
  return factor(block_map(map, shape));
}

Sources ascending(std::size_t size) {
  Sources sources(size);
  std::iota(sources.begin(), sources.end(), 0U);
  return sources;
}

using Digits = std::vector<Digit>;

TEST(Factors, OfATransposeAreItsAxes) {
  // x[3][4] to y[4][3]
  const auto factors = factors_of({0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  ASSERT_TRUE(factors);
  EXPECT_EQ(factors->base, 0U);
  EXPECT_EQ(factors->digits, (Digits{{3, 4}, {4, 1}}));
  EXPECT_FALSE(factors->wraps);
}

TEST(Factors, OfAReversalIsOneThatGoesBack) {
  Sources sources = ascending(10);
  std::reverse(sources.begin(), sources.end());
  const auto factors = factors_of(sources);
  ASSERT_TRUE(factors);
  EXPECT_EQ(factors->base, 9U);
  EXPECT_EQ(factors->digits, (Digits{{10, -1}}));
}

TEST(Factors, OfARotationIsOneThatBeginsAgain) {
  Sources sources = ascending(11);
  std::rotate(sources.begin(), sources.begin() + 4, sources.end());
  const auto factors = factors_of(sources);
  ASSERT_TRUE(factors);
  EXPECT_EQ(factors->base, 4U);
  EXPECT_EQ(factors->digits, (Digits{{11, 1}}));
  EXPECT_TRUE(factors->wraps);
  EXPECT_FALSE(factors_of(sources, 12)) << "no rotation of 12";
}

TEST(Factors, OfABitReversalAreItsBits) {
  const auto factors = factors_of({0, 4, 2, 6, 1, 5, 3, 7});
  ASSERT_TRUE(factors);
  EXPECT_EQ(factors->digits, (Digits{{2, 4}, {2, 2}, {2, 1}}));
}

TEST(Factors, OfAPartAreItsSteps) {
  // Every third of 24 from the second on, each twice.
  const auto factors = factors_of({1, 1, 4, 4, 7, 7, 10, 10}, 24);
  ASSERT_TRUE(factors);
  EXPECT_EQ(factors->base, 1U);
  EXPECT_EQ(factors->digits, (Digits{{2, 0}, {4, 3}}));
}

TEST(Factors, CountUnits) {
  // Blocks of three floats, which move as three units: x[2][2][3] to y[2][2][3]
  const auto factors = factors_of({0, 2, 1, 3}, 0, {.element_bytes = 4, .inner = 3});
  ASSERT_TRUE(factors);
  EXPECT_EQ(factors->digits, (Digits{{3, 1}, {2, 6}, {2, 3}}));
}

TEST(Factors, OfOnePositionAreOneDigit) {
  const auto factors = factors_of({2}, 5);
  ASSERT_TRUE(factors);
  EXPECT_EQ(factors->base, 2U);
  EXPECT_EQ(factors->digits, (Digits{{1, 1}}));
}

TEST(Factors, OfNoOtherMap) {
  EXPECT_FALSE(factors_of({0, 1, 3, 2}));
  EXPECT_FALSE(factors_of({0, 1, 2, 3, 4, 6, 5}));
  // What is steady ends where no axis does.
  EXPECT_FALSE(factors_of({0, 3, 6, 9, 1, 4, 7, 10, 2, 5}, 11));
  Sources sources = ascending(4096);
  std::shuffle(sources.begin(), sources.end(), std::mt19937(3));
  EXPECT_FALSE(factors_of(sources));
  // All but the last.
  sources = ascending(4096);
  std::reverse(sources.begin(), sources.end());
  std::swap(sources.back(), sources.front());
  EXPECT_FALSE(factors_of(sources));
}

}  // namespace
}  // namespace kiln::permutation
