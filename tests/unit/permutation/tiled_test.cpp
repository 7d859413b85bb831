#include "permutation/tiled.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "kiln/error.hpp"
#include "permutation/strategy.hpp"

namespace kiln::permutation {
namespace {

using Sources = std::vector<std::uint32_t>;

BlockMap blocks_of(const Sources& sources, unsigned element_bytes) {
  return block_map(IndexMap(std::span<const std::uint32_t>(sources), sources.size()), {.element_bytes = element_bytes});
}

/// x[rows][columns] to y[columns][rows]
Sources transpose(std::uint32_t rows, std::uint32_t columns) {
  Sources sources;
  for (std::uint32_t column = 0; column < columns; ++column) {
    for (std::uint32_t row = 0; row < rows; ++row) {
      sources.push_back(row * columns + column);
    }
  }
  return sources;
}

Sources reversal(std::uint32_t size) {
  Sources sources(size);
  std::iota(sources.rbegin(), sources.rend(), 0U);
  return sources;
}

std::uint64_t places_of(const TileSide& side) {
  return std::accumulate(side.digits.begin(), side.digits.end(), std::uint64_t{1},
                         [](std::uint64_t places, const TileDigit& digit) { return places * digit.extent; });
}

TEST(Tiled, TransposesSquaresInVectors) {
  const auto tiled = find_tiled(blocks_of(transpose(256, 512), 4));
  ASSERT_TRUE(tiled);
  EXPECT_EQ(places_of(tiled->load), 64U * 64);
  EXPECT_EQ(places_of(tiled->store), 64U * 64);
  EXPECT_EQ(tiled->tiles(), 4U * 8);
  EXPECT_EQ(tiled->run_bytes, 256U);
  EXPECT_EQ(tiled->load.units, 4U);
  EXPECT_EQ(tiled->store.units, 4U);
  EXPECT_EQ(tiled->outer, (std::vector<OuterDigit>{{4, 64 * 512, 64}, {8, 64, 64 * 256}}));
  EXPECT_EQ(tiled->edge_a, TileEdge{});
  EXPECT_EQ(tiled->edge_b, TileEdge{});
}

TEST(Tiled, HasEdgesWhereTilesDoNotDivideTheRow) {
  const auto tiled = find_tiled(blocks_of(transpose(997, 1009), 4));
  ASSERT_TRUE(tiled);
  EXPECT_EQ(tiled->load.units, 1U);
  EXPECT_EQ(tiled->store.units, 1U);
  EXPECT_EQ(tiled->tiles(), 16U * 16);
  EXPECT_EQ(tiled->edge_a, (TileEdge{0, 64, 997, 1, 1}));
  EXPECT_EQ(tiled->edge_b, (TileEdge{1, 64, 1009, 1, 1}));
}

TEST(Tiled, ReadsAReversalFromItsEnd) {
  const auto tiled = find_tiled(blocks_of(reversal(65'536), 4));
  ASSERT_TRUE(tiled);
  EXPECT_EQ(places_of(tiled->load), 4096U);
  EXPECT_EQ(tiled->load.base, 65'536U - 4096);
  EXPECT_EQ(tiled->outer, (std::vector<OuterDigit>{{16, -4096, 4096}}));
  EXPECT_EQ(tiled->load.units, 4U);
  EXPECT_EQ(tiled->store.units, 4U);
}

TEST(Tiled, MovesPlanesToPixelsInVectors) {
  const auto tiled = find_tiled(blocks_of(transpose(3, 50'176), 1));
  ASSERT_TRUE(tiled);
  EXPECT_EQ(tiled->load.units, 16U);
  EXPECT_EQ(tiled->store.units, 16U);
  EXPECT_GE(tiled->run_bytes, 4096U);
  const auto back = find_tiled(blocks_of(transpose(50'176, 3), 1));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->load.units, 16U);
  EXPECT_EQ(back->store.units, 16U);
}

TEST(Tiled, VectorsStartOnTheirBoundaries) {
  const auto units = [](const Sources& sources) {
    const auto tiled = find_tiled(blocks_of(sources, 4));
    return tiled ? std::vector<unsigned>{tiled->load.units, tiled->store.units} : std::vector<unsigned>{};
  };
  EXPECT_THAT(units(transpose(128, 130)), testing::ElementsAre(2U, 4U));
  EXPECT_THAT(units(transpose(129, 128)), testing::ElementsAre(4U, 1U));
  EXPECT_THAT(units(reversal(65'538)), testing::ElementsAre(2U, 2U));
  Sources rotation(65'536);
  std::iota(rotation.begin(), rotation.end(), 0U);
  std::rotate(rotation.begin(), rotation.begin() + 1, rotation.end());
  EXPECT_THAT(units(rotation), testing::ElementsAre(1U, 4U));
}

TEST(Tiled, IsNotForMapsWithoutAxesOrRuns) {
  Sources sources(65'536);
  std::iota(sources.begin(), sources.end(), 0U);
  std::shuffle(sources.begin(), sources.end(), std::mt19937(1));
  EXPECT_FALSE(find_tiled(blocks_of(sources, 4)));
  // Every second: no two neighbours are read.
  sources.resize(1000);
  for (std::size_t at = 0; at < sources.size(); ++at) {
    sources[at] = static_cast<std::uint32_t>(2 * at);
  }
  EXPECT_FALSE(find_tiled(block_map(IndexMap(std::span<const std::uint32_t>(sources), 2000), {})));
  EXPECT_FALSE(find_tiled(blocks_of(reversal(7), 4)));  // 28 bytes
  EXPECT_TRUE(find_tiled(blocks_of(reversal(8), 4)));
}

TEST(Tiled, EveryTileFitsAnyDevice) {
  std::mt19937 random(11);
  int found = 0;
  for (int round = 0; round < 400; ++round) {
    const auto rows = static_cast<std::uint32_t>(2 + random() % 700);
    const auto columns = static_cast<std::uint32_t>(2 + random() % 300);
    const BlockMap blocks = blocks_of(transpose(rows, columns), 1U << random() % 5);
    if (const auto tiled = find_tiled(blocks)) {
      ++found;
      EXPECT_LE(tiled->shared_bytes, 48U * 1024) << rows << " x " << columns;
      EXPECT_EQ(places_of(tiled->load), places_of(tiled->store));
      EXPECT_EQ(places_of(tiled->load) % tiled->load.units, 0U);
      EXPECT_EQ(places_of(tiled->store) % tiled->store.units, 0U);
      EXPECT_GE(tiled->tiles() * places_of(tiled->load), blocks.row_out_units());
    }
  }
  EXPECT_GT(found, 300);
}

TEST(ForcedStrategy, IsTakenOrRefused) {
  const auto forced = [](const Sources& sources, PermuteStrategy strategy) {
    return choose(blocks_of(sources, 4), {.strategy = strategy}, Target::cubin(90)).strategy;
  };
  EXPECT_TRUE(std::holds_alternative<Direct>(forced(reversal(4096), PermuteStrategy::direct)));
  EXPECT_TRUE(std::holds_alternative<DirectData>(forced(reversal(70'000), PermuteStrategy::direct)));
  EXPECT_TRUE(std::holds_alternative<Staged>(forced(reversal(4096), PermuteStrategy::staged)));
  EXPECT_TRUE(std::holds_alternative<Tiled>(forced(reversal(4096), PermuteStrategy::tiled)));
  EXPECT_TRUE(std::holds_alternative<Bucketed>(forced(reversal(70'000), PermuteStrategy::bucketed)));
  const auto refusal = [&](const Sources& sources, PermuteStrategy strategy) -> std::string {
    try {
      (void)forced(sources, strategy);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    return "nothing was refused";
  };
  EXPECT_EQ(
      refusal(reversal(70'000), PermuteStrategy::staged),
      "strategy is staged: a row of 280000 bytes does not fit in the 232448 bytes of shared memory of a block, or "
      "has more than 65536 entries in its table; direct moves any map, automatic chooses");
  EXPECT_EQ(refusal({0, 1, 3, 2}, PermuteStrategy::tiled),
            "strategy is tiled: the map does not swap axes, or leaves no runs of 32 bytes; direct moves any map, "
            "automatic chooses");
}

}  // namespace
}  // namespace kiln::permutation
