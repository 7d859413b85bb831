#include "permutation/bucketed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kiln::permutation {
namespace {

enum class Kind { shuffled, repeated, reversal, one_source };

IndexMap map_of(Kind kind, std::uint64_t size, std::uint64_t source_size) {
  std::mt19937 random(static_cast<unsigned>(size));
  std::vector<std::uint32_t> sources(size);
  if (kind == Kind::repeated) {
    std::generate(sources.begin(), sources.end(), [&] { return static_cast<std::uint32_t>(random() % source_size); });
  } else if (kind == Kind::reversal) {
    std::iota(sources.rbegin(), sources.rend(), 0U);
  } else if (kind == Kind::shuffled) {
    std::iota(sources.begin(), sources.end(), 0U);
    std::shuffle(sources.begin(), sources.end(), random);
  }
  return {std::span<const std::uint32_t>(sources), source_size};
}

/// The two passes as the template's comment and the table's describe them, one unit at a time, for a row that holds the
/// numbers of its units. Fails where a pass would leave what it may touch.
std::vector<std::uint64_t> interpret(const BlockMap& blocks, const Bucketed& plan,
                                     const std::vector<std::uint32_t>& table) {
  const std::uint64_t units = 16 / (plan.lanes * blocks.unit_bytes);  // of a vector of words: a row's in one lane
  const std::uint64_t row_in = blocks.row_in_units();
  const std::uint64_t row_out = blocks.row_out_units();
  const std::uint64_t sources = (row_in + plan.source_segment - 1) / plan.source_segment;
  const std::uint64_t targets = (row_out + plan.target_segment - 1) / plan.target_segment;
  std::uint64_t at = 0;  // of the table, in words
  auto part = [&](std::uint64_t bytes) {
    const std::uint64_t begin = at;
    at += (bytes + 15) / 16 * 4;
    return reinterpret_cast<const unsigned char*>(table.data() + begin);
  };
  const auto* counts = reinterpret_cast<const std::uint32_t*>(part(4 * (sources + targets)));
  const auto* out_offsets = reinterpret_cast<const std::uint16_t*>(part(2 * sources * plan.out_vectors * units));
  const auto* addresses = reinterpret_cast<const std::uint32_t*>(part(4 * targets * plan.in_vectors));
  const auto* in_offsets = reinterpret_cast<const std::uint16_t*>(part(2 * targets * plan.target_segment));
  EXPECT_EQ(table.size(), at);

  constexpr std::uint64_t k_nothing = ~std::uint64_t{0};
  std::vector<std::uint64_t> scratch(sources * plan.out_vectors * units, k_nothing);
  for (std::uint64_t s = 0; s < sources; ++s) {
    EXPECT_LE(counts[s], plan.out_vectors);
    for (std::uint64_t i = 0; i < counts[s] * units; ++i) {
      const std::uint64_t unit = s * plan.source_segment + out_offsets[s * plan.out_vectors * units + i];
      EXPECT_LT(out_offsets[s * plan.out_vectors * units + i], plan.source_segment);
      EXPECT_LT(unit, row_in);
      scratch.at(s * plan.out_vectors * units + i) = unit;
    }
  }
  std::vector<std::uint64_t> y(row_out, k_nothing);
  for (std::uint64_t t = 0; t < targets; ++t) {
    EXPECT_LE(counts[sources + t], plan.in_vectors);
    std::vector<std::uint64_t> fetched(plan.in_vectors * units, k_nothing);
    for (std::uint64_t v = 0; v < counts[sources + t]; ++v) {
      for (std::uint64_t i = 0; i < units; ++i) {
        fetched[v * units + i] = scratch.at(addresses[t * plan.in_vectors + v] * units + i);
      }
    }
    for (std::uint64_t i = t * plan.target_segment; i < std::min(row_out, (t + 1) * plan.target_segment); ++i) {
      y[i] = fetched.at(in_offsets[i]);
    }
  }
  return y;
}

std::vector<std::uint64_t> defined(const BlockMap& blocks) {
  std::vector<std::uint64_t> y;
  for (std::uint32_t source : blocks.map.sources()) {
    for (std::uint64_t unit = 0; unit < blocks.units; ++unit) {
      y.push_back(source * blocks.units + unit);
    }
  }
  return y;
}

TEST(BucketedTable, MovesEveryUnitToItsPlace) {
  struct Case {
    Kind kind;
    std::uint64_t size;
    std::uint64_t source_size;
    std::uint64_t segment;
  };
  for (const Case& c : {Case{Kind::shuffled, 1, 1, 16}, Case{Kind::shuffled, 16, 16, 16},
                        Case{Kind::shuffled, 17, 17, 16}, Case{Kind::shuffled, 1000, 1000, 64},
                        Case{Kind::shuffled, 4096, 4096, 512}, Case{Kind::shuffled, 4097, 4097, 512},
                        Case{Kind::reversal, 4095, 4095, 512}, Case{Kind::repeated, 1500, 1000, 256},
                        Case{Kind::repeated, 1000, 3001, 256}, Case{Kind::repeated, 9000, 100, 256},
                        Case{Kind::repeated, 5000, 5000, 5008}, Case{Kind::shuffled, 70'001, 70'001, 16'384}}) {
    for (unsigned bytes : {1U, 2U, 4U, 8U, 16U}) {
      SCOPED_TRACE(std::to_string(c.size) + " of " + std::to_string(c.source_size) + ", " + std::to_string(bytes) +
                   " bytes");
      const BlockMap blocks = block_map(map_of(c.kind, c.size, c.source_size), {.element_bytes = bytes});
      const std::optional<Bucketed> plan = bucketed_with(blocks, c.segment, 64);
      ASSERT_TRUE(plan);
      EXPECT_EQ(interpret(blocks, *plan, bucketed_table(blocks, *plan)), defined(blocks));
    }
  }
}

TEST(BucketedTable, MovesWordsOfSeveralRows) {
  for (const auto& [bytes, lanes] : {std::pair{1U, 2U}, {1U, 4U}, {2U, 2U}}) {
    for (std::uint64_t size : {1U, 17U, 1000U, 4097U, 70'001U}) {
      SCOPED_TRACE(std::to_string(bytes) + " bytes, " + std::to_string(lanes) + " lanes, " + std::to_string(size));
      const BlockMap blocks = block_map(map_of(Kind::shuffled, size, size), {.element_bytes = bytes});
      const std::optional<Bucketed> plan = bucketed_with(blocks, size < 70'000 ? 64 : 8192, 64, lanes);
      ASSERT_TRUE(plan);
      EXPECT_EQ(interpret(blocks, *plan, bucketed_table(blocks, *plan)), defined(blocks));
    }
  }
}

TEST(BucketedTable, TakesBlocksOfSeveralUnits) {
  const BlockMap blocks = block_map(map_of(Kind::shuffled, 1000, 1000), {.element_bytes = 4, .inner = 3});
  ASSERT_EQ(blocks.units, 3U);
  const std::optional<Bucketed> plan = bucketed_with(blocks, 256, 64);
  ASSERT_TRUE(plan);
  EXPECT_EQ(interpret(blocks, *plan, bucketed_table(blocks, *plan)), defined(blocks));
}

TEST(Bucketed, SegmentsAreEvenAndWholeVectors) {
  const BlockMap blocks = block_map(map_of(Kind::shuffled, 70'001, 70'001), {.element_bytes = 4});
  const std::optional<Bucketed> plan = bucketed_with(blocks, 16'384, 512);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source_segment, 14'004U);  // five of them
  EXPECT_EQ(plan->target_segment, 14'004U);
  const BucketedSizes sizes(blocks, *plan);
  EXPECT_EQ(sizes.sources, 5U);
  EXPECT_EQ(sizes.targets, 5U);
  EXPECT_EQ(sizes.out_shared_bytes, 4 * 14'004U + 16);
  EXPECT_EQ(sizes.in_shared_bytes, 16 * plan->in_vectors);
}

TEST(Bucketed, ALittleLongerSegmentsSaveOne) {
  const auto segment_of = [](std::uint64_t size) {
    return bucketed_with(block_map(map_of(Kind::shuffled, size, size), {.element_bytes = 4}), 1600, 512)
        ->target_segment;
  };
  EXPECT_EQ(segment_of(3200), 1600U);
  EXPECT_EQ(segment_of(3201), 1604U);  // two
  EXPECT_EQ(segment_of(3400), 1700U);  // a sixteenth more
  EXPECT_EQ(segment_of(3401), 1136U);  // three
  EXPECT_EQ(segment_of(1500), 1500U);
}

TEST(Bucketed, WordsOfSeveralRowsTakeTheRoomOfOneRowOfTheirSize) {
  const BlockMap bytes = block_map(map_of(Kind::shuffled, 70'001, 70'001), {.element_bytes = 1});
  const BlockMap words = block_map(map_of(Kind::shuffled, 70'001, 70'001), {.element_bytes = 4});
  const std::optional<Bucketed> four = bucketed_with(bytes, 16'384, 512, 4);
  const std::optional<Bucketed> one = bucketed_with(words, 16'384, 512);
  ASSERT_TRUE(four && one);
  EXPECT_EQ(four->lanes, 4U);
  EXPECT_EQ(four->source_segment, 14'016U);  // vectors of a byte row; five segments, as of words
  EXPECT_EQ(one->source_segment, 14'004U);
  const BucketedSizes sizes(bytes, *four);
  EXPECT_EQ(sizes.words, 4U);
  EXPECT_EQ(sizes.out_shared_bytes, 4 * 14'016U);
  EXPECT_EQ(sizes.in_shared_bytes, 4 * (14'016U + 5 * 3) / 16 * 16);
  EXPECT_EQ(sizes.scratch_bundle_bytes, 5 * (4 * (14'016U + 5 * 3) / 16 * 16));
}

TEST(Bucketed, TakesNoMoreLanesThanRows) {
  const BlockMap blocks = block_map(map_of(Kind::reversal, 262'144, 262'144), {.element_bytes = 1});
  const auto lanes_for = [&](std::uint64_t rows) { return find_bucketed(blocks, 227 * 1024, rows)->lanes; };
  EXPECT_EQ(lanes_for(0), 4U);
  EXPECT_EQ(lanes_for(1), 1U);
  EXPECT_EQ(lanes_for(2), 2U);
  EXPECT_EQ(lanes_for(3), 2U);
  EXPECT_EQ(lanes_for(4), 4U);
  EXPECT_EQ(lanes_for(1000), 4U);
}

TEST(Bucketed, PermutationsOfOneSizeHaveTheSameSizes) {
  const auto plan_for = [](Kind kind) {
    return find_bucketed(block_map(map_of(kind, 262'144, 262'144), {.element_bytes = 4}), 227 * 1024);
  };
  ASSERT_TRUE(plan_for(Kind::shuffled));
  EXPECT_EQ(plan_for(Kind::shuffled), plan_for(Kind::reversal));
}

TEST(Bucketed, SegmentsThatAreReadMoreThanOnceAreShorter) {
  const BlockMap blocks = block_map(map_of(Kind::repeated, 262'144, 65'536), {.element_bytes = 4});
  const std::optional<Bucketed> plan = find_bucketed(blocks, 227 * 1024);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source_segment, 4096U);
  EXPECT_EQ(plan->target_segment, 16'384U);
  EXPECT_EQ(interpret(blocks, *plan, bucketed_table(blocks, *plan)), defined(blocks));
}

TEST(Bucketed, RefusesMapsThatReadOneSegmentMoreThanOthers) {
  EXPECT_FALSE(find_bucketed(block_map(map_of(Kind::one_source, 262'144, 262'144), {.element_bytes = 4}), 227 * 1024));
}

TEST(Bucketed, RefusesRowsOfTooManySegments) {
  const BlockMap blocks = block_map(map_of(Kind::shuffled, 70'000, 70'000), {.element_bytes = 4});
  EXPECT_FALSE(bucketed_with(blocks, 64, 64));
  EXPECT_TRUE(bucketed_with(blocks, 128, 64));
}

struct Choice {
  unsigned bytes;
  std::uint64_t size;
  unsigned shared_limit;
  std::uint64_t segment;
  unsigned threads;
  bool relay;
  unsigned lanes = 1;
};

void PrintTo(const Choice& choice, std::ostream* out) {
  *out << choice.bytes << " bytes, " << choice.size << ", shared " << choice.shared_limit;
}

class BucketedChoices : public testing::TestWithParam<Choice> {};

TEST_P(BucketedChoices, AreAsWritten) {
  const Choice& choice = GetParam();
  const BlockMap blocks = block_map(map_of(Kind::reversal, choice.size, choice.size), {.element_bytes = choice.bytes});
  const std::optional<Bucketed> plan = find_bucketed(blocks, choice.shared_limit);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->source_segment, choice.segment);
  EXPECT_EQ(plan->target_segment, choice.segment);
  EXPECT_EQ(plan->threads, choice.threads);
  EXPECT_EQ(plan->lanes, choice.lanes);
  EXPECT_EQ(plan->relay, choice.relay);
  EXPECT_EQ(plan->resident, choice.relay ? 2U : 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Written, BucketedChoices,
    testing::Values(
        Choice{4, 262'144, 227 * 1024, 16'384, 512, true}, Choice{4, 1 << 20, 227 * 1024, 16'384, 512, true},
        Choice{4, (1 << 20) + 1, 227 * 1024, 32'772, 1024, false}, Choice{4, 1 << 22, 227 * 1024, 32'768, 1024, false},
        Choice{8, 65'536, 227 * 1024, 8'192, 512, true}, Choice{16, 65'536, 227 * 1024, 4'096, 512, true},
        Choice{4, 262'147, 227 * 1024, 16'388, 512, true}, Choice{2, 262'144, 227 * 1024, 16'384, 512, true, 2},
        Choice{2, 1 << 22, 227 * 1024, 32'768, 1024, false, 2}, Choice{1, 262'144, 227 * 1024, 16'384, 512, true, 4},
        Choice{1, 1 << 20, 227 * 1024, 16'384, 512, true, 4}, Choice{4, 262'144, 163 * 1024, 16'384, 512, false},
        Choice{4, 262'144, 99 * 1024, 16'384, 512, false}, Choice{4, 262'144, 64 * 1024, 8'192, 512, false},
        Choice{1, 262'144, 64 * 1024, 8'192, 512, false, 4}));

}  // namespace
}  // namespace kiln::permutation
