#include "kiln/index_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "kiln/error.hpp"

namespace kiln {
namespace {

std::string message_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "nothing was thrown";
}

IndexMap make(const std::vector<std::int64_t>& sources, std::uint64_t source_size) { return {sources, source_size}; }
Permutation permutation(const std::vector<std::int64_t>& sources) { return Permutation(sources); }

std::vector<std::uint32_t> list_of(const IndexMap& map) { return {map.sources().begin(), map.sources().end()}; }

TEST(IndexMap, KeepsWhatItWasGiven) {
  IndexMap map = make({2, 0, 2, 5}, 6);
  EXPECT_EQ(map.size(), 4U);
  EXPECT_EQ(map.source_size(), 6U);
  EXPECT_EQ(map[0], 2U);
  EXPECT_EQ(map[3], 5U);
  EXPECT_EQ(list_of(map), (std::vector<std::uint32_t>{2, 0, 2, 5}));
  EXPECT_FALSE(map.is_permutation());
}

TEST(IndexMap, TakesUnsignedSources) {
  const std::vector<std::uint32_t> sources{1, 0};
  EXPECT_EQ(IndexMap(sources, 2), make({1, 0}, 2));
}

TEST(IndexMap, KnowsAPermutation) {
  EXPECT_TRUE(make({1, 2, 0}, 3).is_permutation());
  EXPECT_TRUE(make({0}, 1).is_permutation());
  EXPECT_FALSE(make({1, 1, 0}, 3).is_permutation());  // as many as sources, one repeated
  EXPECT_FALSE(make({1, 2, 0}, 4).is_permutation());  // one source unused
  std::vector<std::int64_t> many(100'000);
  std::iota(many.rbegin(), many.rend(), 0);
  EXPECT_TRUE(make(many, many.size()).is_permutation());
  many[99'999] = many[0];
  EXPECT_FALSE(make(many, many.size()).is_permutation());
}

TEST(IndexMap, RefusesAnEmptyMap) {
  EXPECT_THAT(message_of([] { make({}, 4); }), testing::HasSubstr("the index map is empty"));
}

TEST(IndexMap, RefusesASourceOutOfRange) {
  EXPECT_EQ(message_of([] { make({0, 3, 4, 9}, 4); }),
            "the index map has source 4 at position 2, which is out of range: sources must be below 4");
}

TEST(IndexMap, RefusesANegativeSource) {
  EXPECT_EQ(message_of([] { make({0, 1, -7}, 4); }),
            "the index map has source -7 at position 2, which is negative: sources count from 0");
}

TEST(IndexMap, RefusesSourcesThatNoUnsignedHolds) {
  EXPECT_THAT(message_of([] { make({0}, std::uint64_t{1} << 32); }), testing::HasSubstr("above 4294967295"));
  EXPECT_THAT(message_of([] { make({std::int64_t{1} << 40}, 4); }), testing::HasSubstr("source 1099511627776"));
}

TEST(IndexMap, ReachesTheLargestSource) {
  constexpr std::uint64_t k_size = 4'294'967'295U;
  EXPECT_EQ(make({std::int64_t{k_size} - 1}, k_size)[0], k_size - 1);
}

TEST(IndexMap, ComposesWithTheMapThatComesFirst) {
  IndexMap first = make({7, 5, 3}, 8);
  IndexMap second = make({2, 2, 0, 1}, 3);
  IndexMap both = second.after(first);
  EXPECT_EQ(list_of(both), (std::vector<std::uint32_t>{3, 3, 7, 5}));
  EXPECT_EQ(both.source_size(), 8U);
}

TEST(IndexMap, RefusesToComposeWhatDoesNotFit) {
  EXPECT_THAT(message_of([] { make({0}, 3).after(make({0, 1}, 2)); }),
              testing::HasSubstr("the first gives 2 positions, the second takes 3"));
}

TEST(IndexMap, EqualityAndDigestCountEverything) {
  IndexMap map = make({0, 1}, 2);
  EXPECT_EQ(map, make({0, 1}, 2));
  EXPECT_EQ(map.digest(), make({0, 1}, 2).digest());
  for (const IndexMap& other : {make({0, 1}, 3), make({1, 0}, 2), make({0, 1, 1}, 2), make({0}, 2)}) {
    EXPECT_FALSE(map == other);
    EXPECT_NE(map.digest(), other.digest());
  }
}

TEST(Permutation, NamesTheFirstTwoPositionsOfARepeatedSource) {
  EXPECT_EQ(message_of([] { permutation({3, 0, 2, 0, 3}); }),
            "the index map is no permutation: source 0 stands at positions 1 and 3");
}

TEST(Permutation, RefusesAMapThatLeavesSourcesOut) {
  EXPECT_THAT(message_of([] { Permutation(make({2, 0}, 3)); }), testing::HasSubstr("takes 2 of 3 sources"));
}

TEST(Permutation, RefusesWhatAnIndexMapRefuses) {
  EXPECT_THAT(message_of([] { permutation({0, 2}); }), testing::HasSubstr("out of range"));
  EXPECT_THAT(message_of([] { permutation({0, -1}); }), testing::HasSubstr("negative"));
  EXPECT_THAT(message_of([] { permutation({}); }), testing::HasSubstr("empty"));
  EXPECT_THAT(message_of([] { Permutation::identity(0); }), testing::HasSubstr("empty"));
}

TEST(Permutation, InverseUndoesIt) {
  std::mt19937 random(36);
  for (std::uint64_t size : {1U, 2U, 36U, 997U, 5000U}) {
    std::vector<std::int64_t> sources(size);
    std::iota(sources.begin(), sources.end(), 0);
    std::shuffle(sources.begin(), sources.end(), random);
    Permutation map = permutation(sources);
    EXPECT_EQ(map.inverse().after(map), Permutation::identity(size));
    EXPECT_EQ(map.after(map.inverse()), Permutation::identity(size));
  }
}

TEST(Permutation, AfterAppliesTheArgumentFirst) {
  Permutation rotate = permutation({1, 2, 0});
  Permutation swap = permutation({1, 0, 2});
  EXPECT_EQ(list_of(swap.after(rotate)), (std::vector<std::uint32_t>{2, 1, 0}));
}

}  // namespace
}  // namespace kiln
