#include "permutation/strategy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <ostream>
#include <random>
#include <string>

namespace kiln::permutation {
namespace {

/// A random map in which nothing moves together.
IndexMap random_map(std::uint64_t size, std::uint64_t source_size) {
  std::mt19937 random(27);
  std::vector<std::uint32_t> sources(size);
  if (size == source_size) {
    std::iota(sources.rbegin(), sources.rend(), 0U);
    std::shuffle(sources.begin() + 2, sources.end(), random);
  } else {
    std::generate(sources.begin(), sources.end(), [&] { return static_cast<std::uint32_t>(random() % source_size); });
    sources[0] = 0;
    sources[1] = static_cast<std::uint32_t>(source_size - 1);
  }
  return {std::span<const std::uint32_t>(sources), source_size};
}

/// As text, so that a table of them can be read and compared.
std::string text_of(const Strategy& strategy) {
  struct Writer {
    std::string operator()(const Direct& direct) const {
      return "direct u" + std::to_string(direct.index_bits) + " x" + std::to_string(direct.threads);
    }
    std::string operator()(const DirectData& direct) const { return "direct data x" + std::to_string(direct.threads); }
    std::string operator()(const Bucketed& bucketed) const {
      return std::string(bucketed.relay ? "relay" : "bucketed") + " x" + std::to_string(bucketed.threads) +
             " segments of " + std::to_string(bucketed.source_segment) + " and " +
             std::to_string(bucketed.target_segment) +
             (bucketed.lanes == 1 ? "" : " lanes " + std::to_string(bucketed.lanes));
    }
    std::string operator()(const Channels& channels) const {
      return std::to_string(channels.count) + " planes of " + std::to_string(channels.plane) +
             (channels.to_pixels ? " to" : " from") + " pixels x" + std::to_string(channels.threads);
    }
    std::string operator()(const Tiled& tiled) const {
      return "tiled x" + std::to_string(tiled.threads) + " vectors of " + std::to_string(tiled.load.units) + " and " +
             std::to_string(tiled.store.units) + ", runs of " + std::to_string(tiled.run_bytes) + " bytes";
    }
    std::string operator()(const Rows& rows) const {
      return "rows u" + std::to_string(rows.index_bits) + " x" + std::to_string(rows.threads) + " lanes " +
             std::to_string(rows.lanes) + " lines " + std::to_string(rows.lane_lines) + " of " +
             std::to_string(rows.lane_distance);
    }
    std::string operator()(const Staged& staged) const {
      return "staged u" + std::to_string(staged.index_bits) + " x" + std::to_string(staged.threads) + " lanes " +
             std::to_string(staged.lanes) + " rows " + std::to_string(staged.rows_per_tile) + " of " +
             std::to_string(staged.period_rows) + (staged.asynchronous ? " async" : "");
    }
  };
  return std::visit(Writer{}, strategy);
}

struct Case {
  unsigned element_bytes;
  std::uint64_t size;
  std::uint64_t source_size;
  std::uint64_t inner;
  std::uint64_t typical_rows;
  int capability;
  std::string chosen;
};

void PrintTo(const Case& shape, std::ostream* out) {
  *out << shape.element_bytes << " bytes, " << shape.size << " of " << shape.source_size << ", inner " << shape.inner
       << ", rows " << shape.typical_rows << ", sm_" << shape.capability;
}

class Strategies : public testing::TestWithParam<Case> {};

TEST_P(Strategies, AreAsWritten) {
  const Case& shape = GetParam();
  BlockMap blocks =
      block_map(random_map(shape.size, shape.source_size), {shape.element_bytes, shape.inner, shape.typical_rows});
  Choice choice =
      choose(blocks, {shape.element_bytes, shape.inner, shape.typical_rows}, Target::cubin(shape.capability));
  EXPECT_EQ(text_of(choice.strategy), shape.chosen);
}

INSTANTIATE_TEST_SUITE_P(Floats, Strategies,
                         testing::Values(Case{4, 3, 3, 1, 0, 90, "staged u8 x126 lanes 1 rows 336 of 4"},
                                         Case{4, 36, 36, 1, 0, 90, "staged u8 x126 lanes 1 rows 28 of 1"},
                                         Case{4, 37, 37, 1, 0, 90, "staged u8 x111 lanes 1 rows 24 of 4"},
                                         Case{4, 256, 256, 1, 0, 90, "staged u8 x128 lanes 1 rows 4 of 1"},
                                         Case{4, 997, 997, 1, 0, 90, "staged u16 x160 lanes 1 rows 1 of 1"},
                                         Case{4, 1000, 1000, 1, 0, 90, "staged u16 x128 lanes 1 rows 1 of 1"},
                                         Case{4, 1200, 1200, 1, 0, 90, "staged u16 x300 lanes 1 rows 3 of 1"},
                                         Case{4, 4096, 4096, 1, 0, 90, "staged u16 x1024 lanes 1 rows 2 of 1"},
                                         Case{4, 16384, 16384, 1, 0, 90, "staged u16 x1024 lanes 1 rows 1 of 1"},
                                         Case{4, 50000, 50000, 1, 0, 90, "staged u16 x1024 lanes 1 rows 1 of 1 async"},
                                         Case{4, 50001, 50001, 1, 0, 90, "staged u16 x1024 lanes 1 rows 1 of 1 async"},
                                         Case{4, 70000, 70000, 1, 0, 90, "relay x512 segments of 14000 and 14000"},
                                         Case{4, 262144, 262144, 1, 0, 90, "relay x512 segments of 16384 and 16384"}));

INSTANTIATE_TEST_SUITE_P(OtherElements, Strategies,
                         testing::Values(Case{1, 3, 3, 1, 0, 90, "staged u8 x255 lanes 4 rows 5440 of 16"},
                                         Case{1, 37, 37, 1, 0, 90, "staged u16 x222 lanes 4 rows 384 of 16"},
                                         Case{1, 256, 256, 1, 0, 90, "staged u8 x288 lanes 4 rows 64 of 1"},
                                         Case{1, 997, 997, 1, 0, 90, "staged u16 x384 lanes 4 rows 64 of 16"},
                                         Case{1, 4096, 4096, 1, 0, 90, "staged u16 x288 lanes 4 rows 4 of 1"},
                                         Case{1, 4097, 4097, 1, 0, 90, "rows u16 x288 lanes 4 lines 1 of 16"},
                                         Case{1, 16384, 16384, 1, 0, 90, "staged u16 x512 lanes 4 rows 4 of 1"},
                                         Case{1, 65536, 65536, 1, 0, 90, "staged u16 x1024 lanes 2 rows 2 of 1"},
                                         Case{2, 64, 64, 1, 0, 90, "staged u8 x128 lanes 2 rows 32 of 1"},
                                         Case{2, 997, 997, 1, 0, 90, "staged u16 x384 lanes 2 rows 16 of 8"},
                                         Case{2, 4097, 4097, 1, 0, 90, "rows u16 x288 lanes 2 lines 1 of 8"},
                                         Case{2, 16385, 16385, 1, 0, 90, "rows u16 x512 lanes 2 lines 1 of 8"},
                                         Case{1, 16385, 16385, 1, 0, 90, "rows u16 x320 lanes 4 lines 1 of 16"},
                                         Case{1, 32768, 32768, 1, 0, 90, "staged u16 x512 lanes 2 rows 2 of 1"},
                                         Case{2, 1024, 1024, 1, 0, 90, "staged u16 x128 lanes 2 rows 2 of 1"},
                                         Case{2, 4096, 4096, 1, 0, 90, "staged u16 x384 lanes 2 rows 2 of 1"},
                                         Case{2, 65536, 65536, 1, 0, 90, "staged u16 x1024 lanes 1 rows 1 of 1 async"},
                                         Case{8, 512, 512, 1, 0, 90, "staged u16 x128 lanes 1 rows 1 of 1"},
                                         Case{8, 4096, 4096, 1, 0, 90, "staged u16 x1024 lanes 1 rows 1 of 1"},
                                         Case{16, 64, 64, 1, 0, 90, "direct u8 x256"},  // rows that stay cached
                                         Case{16, 1000, 1000, 1, 0, 90, "staged u16 x1000 lanes 1 rows 2 of 1"}));

INSTANTIATE_TEST_SUITE_P(
    OtherShapes, Strategies,
    testing::Values(Case{4, 36, 36, 1, 10, 90, "direct u8 x256"},  // small launches
                    Case{4, 36, 36, 1, 16'317, 90, "direct u8 x256"},
                    Case{4, 36, 36, 1, 16'318, 90, "staged u8 x126 lanes 1 rows 28 of 1"},
                    Case{4, 4096, 4096, 1, 4, 90, "direct u16 x256"},
                    Case{4, 10, 1000, 1, 10, 90, "direct u16 x256"},  // reads a part of x
                    Case{4, 256, 256, 1, 10'000, 90, "staged u8 x128 lanes 1 rows 4 of 1"},
                    Case{4, 50'000, 50'000, 1, 6, 90, "direct u16 x256"},  // staged on six multiprocessors only
                    Case{4, 36, 36, 2, 0, 90, "staged u8 x126 lanes 1 rows 14 of 1"},  // units of 8 bytes
                    Case{4, 36, 36, 3, 0, 90, "staged u8 x108 lanes 1 rows 8 of 1"},   // blocks of three units
                    Case{4, 36, 36, 16, 0, 90, "direct u8 x256"},                      // blocks of whole sectors
                    Case{4, 300, 300, 16, 0, 90, "direct u16 x256"},
                    Case{4, 10, 1000, 1, 0, 90, "direct u16 x256"},  // staging reads a hundred times as much
                    Case{4, 10, 100'000, 1, 0, 90, "direct u32 x256"},
                    Case{4, 1000, 10, 1, 0, 90, "staged u8 x1000 lanes 1 rows 8 of 2"},
                    Case{4, 257, 2866, 1, 0, 90, "direct u16 x256"},
                    Case{4, 500, 2866, 1, 0, 90, "staged u16 x384 lanes 1 rows 2 of 1"}));

INSTANTIATE_TEST_SUITE_P(
    Targets, Strategies,
    testing::Values(
        Case{4, 16384, 16384, 1, 0, 75, "bucketed x512 segments of 8192 and 8192"},  // 64 KiB of shared memory
        Case{4, 16384, 16384, 1, 0, 86, "staged u16 x1024 lanes 1 rows 1 of 1"},
        Case{4, 28672, 28672, 1, 0, 86, "bucketed x512 segments of 14336 and 14336"},  // 99 KiB
        Case{4, 28672, 28672, 1, 0, 80, "staged u16 x1024 lanes 1 rows 1 of 1 async"},
        Case{4, 50000, 50000, 1, 0, 80, "bucketed x512 segments of 16668 and 16668"},  // 163 KiB
        Case{4, 50000, 50000, 1, 0, 100, "staged u16 x1024 lanes 1 rows 1 of 1 async"},
        Case{16, 70000, 70000, 1, 0, 90, "direct data x256"},
        Case{8, 1 << 20, 1 << 20, 1, 0, 90, "direct data x256"},  // as fast as two passes, without scratch memory
        Case{8, 65536, 65536, 1, 0, 90, "relay x512 segments of 8192 and 8192"},
        Case{8, 65536, 65536, 1, 0, 86, "direct u16 x256"},
        Case{1, 65536, 65536, 1, 0, 75, "bucketed x512 segments of 8192 and 8192 lanes 4"},
        Case{4, 50000, 50000, 1, 0, 120, "bucketed x512 segments of 16668 and 16668"}));

/// Nearly every output reads from the start of the row: 32 units, 32 apart.
IndexMap few_sources(std::uint64_t size) {
  std::vector<std::uint32_t> sources(size);
  for (std::uint64_t at = 0; at < size; ++at) {
    sources[at] = static_cast<std::uint32_t>(at % 32 * 32);
  }
  sources.back() = static_cast<std::uint32_t>(size - 1);
  return {std::span<const std::uint32_t>(sources), size};
}

std::string reason_for(const IndexMap& map, const PermuteShape& shape, int capability = 90) {
  return choose(block_map(map, shape), shape, Target::cubin(capability)).reason;
}

std::string chosen(const std::vector<std::uint32_t>& sources, unsigned bytes) {
  const IndexMap map(std::span<const std::uint32_t>(sources), sources.size());
  const PermuteShape shape{.element_bytes = bytes};
  return text_of(choose(block_map(map, shape), shape, Target::cubin(90)).strategy);
}

std::vector<std::uint32_t> transpose(std::uint32_t side) {
  std::vector<std::uint32_t> sources(std::size_t{side} * side);
  for (std::uint32_t at = 0; at < sources.size(); ++at) {
    sources[at] = at % side * side + at / side;
  }
  return sources;
}

TEST(Choice, LongRowsThatSwapAxesAreTiled) {
  std::vector<std::uint32_t> sources(262'144);
  std::iota(sources.rbegin(), sources.rend(), 0U);  // a reversal
  EXPECT_EQ(chosen(sources, 4), "tiled x256 vectors of 4 and 4, runs of 16384 bytes");
  EXPECT_EQ(chosen(sources, 2), "tiled x256 vectors of 8 and 8, runs of 16384 bytes");
  EXPECT_EQ(chosen(transpose(512), 4), "tiled x256 vectors of 4 and 4, runs of 256 bytes");
}

TEST(Choice, RowsWhoseUnitsAreInOneBankAreTiled) {
  EXPECT_EQ(chosen(transpose(64), 4), "tiled x256 vectors of 4 and 4, runs of 16384 bytes");
  EXPECT_EQ(chosen(transpose(63), 4), "staged u16 x352 lanes 1 rows 1 of 1");
}

TEST(Choice, LongRowsReadFromNearByNeedNoSecondPass) {
  std::vector<std::uint32_t> sources(262'144);
  std::iota(sources.rbegin(), sources.rend(), 0U);
  std::rotate(sources.begin(), sources.begin() + 12'345, sources.end());  // no axis
  EXPECT_EQ(chosen(sources, 8), "direct data x256");
  EXPECT_EQ(chosen(sources, 2), "relay x512 segments of 16384 and 16384 lanes 2");
}

TEST(Choice, SaysWhy) {
  EXPECT_EQ(reason_for(random_map(37, 37), {.typical_rows = 3}),
            "direct: launches of about 3 rows move 111 units, too few to make up for the latency of staging");
  EXPECT_EQ(reason_for(random_map(36, 36), {.inner = 16}),
            "direct: blocks of 64 bytes move together, so that global memory is read in whole sectors");
  EXPECT_EQ(reason_for(random_map(36, 36), {.inner = 4}),
            "direct: blocks of 16 bytes in rows of 576 bytes: the two halves of a sector are used while it is cached");
  EXPECT_EQ(reason_for(Permutation::identity(36), {}),
            "direct: blocks of 144 bytes move together, so that global memory is read in whole sectors");
  EXPECT_EQ(reason_for(random_map(10, 1000), {}),
            "direct: the map takes 10 of 1000 blocks of 4 bytes, so that staging whole rows reads more");
  EXPECT_EQ(
      reason_for(random_map(50'000, 50'000), {}, 80),
      "bucketed: rows of 200000 bytes are moved in two passes over segments of 16668 units; a row of 200000 bytes "
      "does not fit in the 166912 bytes of shared memory of a block");
  EXPECT_EQ(
      reason_for(random_map(20'000, 20'000), {.element_bytes = 16}, 75),
      "direct: a row of 320000 bytes does not fit in the 65536 bytes of shared memory of a block, and neighbours are "
      "read from places so near each other that whole sectors are 200 % of the bytes");
  EXPECT_EQ(reason_for(few_sources(40'000), {.element_bytes = 2}, 75),
            "direct: a row of 80000 bytes does not fit in the 65536 bytes of shared memory of a block");
  EXPECT_EQ(
      reason_for(few_sources(70'000), {}),
      "direct, the table as module data: a row of 280000 bytes does not fit in the 232448 bytes of shared memory of "
      "a block");
  EXPECT_EQ(reason_for(few_sources(70'000), {.element_bytes = 1}),
            "direct, the table as module data: rows of 70000 units need more than 65536 entries in a table");
  EXPECT_EQ(reason_for(random_map(36, 36), {}),
            "staged: tiles of 28 rows of 144 bytes are read and written in 16-byte vectors and permuted in shared "
            "memory");
  std::vector<std::uint32_t> sources = transpose(256);
  EXPECT_EQ(reason_for({std::span<const std::uint32_t>(sources), sources.size()}, {}),
            "tiled: the map swaps axes, so that parts of a row are read and written in runs of 256 bytes at least; a "
            "row of 262144 bytes does not fit in the 232448 bytes of shared memory of a block");
  sources = transpose(64);
  EXPECT_EQ(reason_for({std::span<const std::uint32_t>(sources), sources.size()}, {}),
            "tiled: the map swaps axes, so that parts of a row are read and written in runs of 16384 bytes at least; "
            "staging whole rows is expected to be limited by shared memory");
}

TEST(Choice, ListsEveryStrategyTheFastestFirst) {
  const std::vector<PermuteCandidate> candidates =
      choose(block_map(random_map(4096, 4096), {}), {}, Target::cubin(90)).candidates;
  ASSERT_EQ(candidates.size(), 4U);
  EXPECT_EQ(candidates[0].strategy, PermuteStrategy::staged);
  EXPECT_EQ(candidates[1].strategy, PermuteStrategy::bucketed);
  EXPECT_EQ(candidates[2].strategy, PermuteStrategy::direct);
  EXPECT_NEAR(candidates[0].speed, 0.98, 0.05) << "what was measured";
  EXPECT_NEAR(candidates[2].speed, 0.34, 0.05);
  EXPECT_EQ(candidates[2].note, "memory traffic");
  EXPECT_EQ(candidates[3].strategy, PermuteStrategy::tiled);
  EXPECT_EQ(candidates[3].speed, 0);
  EXPECT_EQ(candidates[3].note, "the map does not swap axes, or leaves no runs of 32 bytes");
}

TEST(Choice, ListsTheSameWhereOneIsAskedFor) {
  const BlockMap blocks = block_map(random_map(4096, 4096), {});
  const Choice choice = choose(blocks, {.strategy = PermuteStrategy::direct}, Target::cubin(90));
  EXPECT_EQ(text_of(choice.strategy), "direct u16 x256");
  EXPECT_EQ(choice.reason, "direct; asked for");
  EXPECT_EQ(choice.candidates.front().strategy, PermuteStrategy::staged);
}

TEST(Staged, EveryTileFitsAndIsWholePeriods) {
  std::mt19937 random(5);
  int staged_count = 0;
  for (int round = 0; round < 1000; ++round) {
    auto size = std::uint64_t{1} + random() % (round % 3 == 0 ? 60'000 : 600);
    auto source_size = random() % 2 == 0 ? size : std::uint64_t{1} + random() % (2 * size);
    PermuteShape shape{1U << (random() % 5), random() % 3 == 0 ? std::uint64_t{1} + random() % 8 : 1, 0};
    int capability = std::vector{75, 80, 86, 90, 103, 121}[random() % 6];
    BlockMap blocks = block_map(size > 1 ? random_map(size, source_size) : Permutation::identity(1), shape);
    Choice choice = choose(blocks, {}, Target::cubin(capability));
    if (const auto* staged = std::get_if<Staged>(&choice.strategy)) {
      ++staged_count;
      EXPECT_LE(shared_bytes(*staged, blocks), shared_bytes_limit(capability));
      EXPECT_EQ(staged->rows_per_tile % (staged->lanes * staged->period_rows), 0U);
      EXPECT_LE(staged->lanes * blocks.unit_bytes, staged->lanes == 1 ? 16U : 4U);
      EXPECT_GE(staged->threads, 32U);
      EXPECT_LE(staged->threads, 1024U);
      EXPECT_LE(staged->period_rows * blocks.row_in_units(), std::uint64_t{1} << staged->index_bits);
      EXPECT_LE(staged->period_rows * blocks.row_out_units(), 65'536U);
    }
  }
  EXPECT_GT(staged_count, 300);
}

}  // namespace
}  // namespace kiln::permutation
