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

/// Moves one row as the template does, place by place; nothing where a place is outside of its buffer.
std::optional<Sources> moved(const Tiled& tiled, const BlockMap& blocks) {
  const auto unit = static_cast<std::int64_t>(blocks.unit_bytes);
  struct At {
    std::int64_t global = 0;
    std::int64_t shared = 0;
    std::int64_t edge_a = 0;
    std::int64_t edge_b = 0;
  };
  const auto place = [](const TileSide& side, std::uint64_t index) {
    At at;
    for (const TileDigit& digit : side.digits) {
      const auto value = static_cast<std::int64_t>(index % digit.extent);
      index /= digit.extent;
      at.global += value * digit.global;
      at.shared += value * digit.shared;
      at.edge_a += value * digit.edge_a;
      at.edge_b += value * digit.edge_b;
    }
    return at;
  };
  const auto units_in = static_cast<std::int64_t>(blocks.row_in_units());
  const auto units_out = static_cast<std::int64_t>(blocks.row_out_units());
  Sources y(blocks.row_out_units(), 0xFFFFFFFFU);
  for (std::uint64_t tile = 0; tile < tiled.tiles(); ++tile) {
    std::int64_t source = 0;
    std::int64_t output = 0;
    std::uint64_t rest = tile;
    std::vector<std::int64_t> outer;
    for (const OuterDigit& digit : tiled.outer) {
      outer.push_back(static_cast<std::int64_t>(rest % digit.count));
      rest /= digit.count;
      source += outer.back() * digit.source;
      output += outer.back() * static_cast<std::int64_t>(digit.output);
    }
    const auto left = [&](const TileEdge& edge, std::uint64_t scale) {
      return edge.size == 0
                 ? std::int64_t{1}
                 : (static_cast<std::int64_t>(edge.size) - outer[edge.outer] * static_cast<std::int64_t>(edge.step)) *
                       static_cast<std::int64_t>(scale);
    };
    std::vector<std::int64_t> shared(tiled.shared_bytes, -1);
    for (std::uint64_t index = 0; index < places_of(tiled.load); ++index) {
      // A vector is moved whole, or not at all.
      const At first = place(tiled.load, index / tiled.load.units * tiled.load.units);
      if (first.edge_a + tiled.load.edge_a >= left(tiled.edge_a, tiled.edge_a.load_scale) ||
          first.edge_b + tiled.load.edge_b >= left(tiled.edge_b, tiled.edge_b.load_scale)) {
        continue;
      }
      const At at = place(tiled.load, index);
      std::int64_t from = static_cast<std::int64_t>(tiled.load.base) + source + first.global;
      from -= tiled.wraps && from >= units_in ? units_in : 0;
      if (from % tiled.load.units != 0) {
        return std::nullopt;
      }
      from += static_cast<std::int64_t>(index % tiled.load.units);
      if (from < 0 || from >= units_in || at.shared < 0 || at.shared + unit > tiled.shared_bytes) {
        return std::nullopt;
      }
      shared[static_cast<std::size_t>(at.shared)] = from;
    }
    for (std::uint64_t index = 0; index < places_of(tiled.store); ++index) {
      const At first = place(tiled.store, index / tiled.store.units * tiled.store.units);
      if (first.edge_a >= left(tiled.edge_a, tiled.edge_a.store_scale) ||
          first.edge_b >= left(tiled.edge_b, tiled.edge_b.store_scale)) {
        continue;
      }
      const std::int64_t from_shared = static_cast<std::int64_t>(tiled.store.base) + place(tiled.store, index).shared;
      const std::int64_t to = output + first.global + static_cast<std::int64_t>(index % tiled.store.units);
      if ((output + first.global) % tiled.store.units != 0 || to < 0 || to >= units_out || from_shared < 0 ||
          from_shared + unit > tiled.shared_bytes || shared[static_cast<std::size_t>(from_shared)] < 0) {
        return std::nullopt;
      }
      y[static_cast<std::size_t>(to)] = static_cast<std::uint32_t>(shared[static_cast<std::size_t>(from_shared)]);
    }
  }
  return y;
}

/// Axes of any sizes, swapped, turned round and cut.
std::pair<Sources, std::uint64_t> any_axes(std::mt19937& random) {
  const std::size_t rank = 1 + random() % 4;
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  const bool cuts = random() % 4 == 0;
  std::uint64_t source_size = 1;
  std::vector<Sources> steps(rank);
  for (Sources& axis : steps) {
    const std::uint64_t most = std::max<std::uint64_t>(std::min<std::uint64_t>(40'000 / source_size, 700), 1);
    const std::uint64_t size = 1 + random() % (random() % 2 == 0 ? most : std::min<std::uint64_t>(most, 40));
    const std::uint64_t first = cuts ? random() % 3 : 0;
    const bool turns = random() % 5 == 0;
    for (std::uint64_t place = 0; place < size; ++place) {
      axis.push_back(static_cast<std::uint32_t>((first + (turns ? size - 1 - place : place)) * source_size));
    }
    source_size *= first + size + (cuts ? random() % 3 : 0);
  }
  Sources sources{0};
  for (const std::size_t axis : order) {
    Sources next;
    for (const std::uint32_t before : sources) {
      for (const std::uint32_t step : steps[axis]) {
        next.push_back(before + step);
      }
    }
    sources = std::move(next);
  }
  return {sources, source_size};
}

TEST(Tiled, EveryPlanFollowsTheDefinition) {
#if defined(__OPTIMIZE__) && !defined(KILN_SANITIZED)
  constexpr int k_rounds = 4000;
#else
  constexpr int k_rounds = 400;
#endif
  std::mt19937 random(31);
  int found = 0;
  for (int round = 0; round < k_rounds; ++round) {
    const auto [sources, source_size] = any_axes(random);
    const PermuteShape shape{.element_bytes = 1U << random() % 5, .inner = random() % 3 == 0 ? 1 + random() % 7 : 1};
    const BlockMap blocks = block_map(IndexMap(std::span<const std::uint32_t>(sources), source_size), shape);
    const std::optional<Tiled> tiled = find_tiled(blocks);
    if (!tiled) {
      continue;
    }
    ++found;
    Sources expected;
    for (const std::uint32_t block : blocks.map.sources()) {
      for (std::uint64_t unit = 0; unit < blocks.units; ++unit) {
        expected.push_back(static_cast<std::uint32_t>(block * blocks.units + unit));
      }
    }
    ASSERT_EQ(moved(*tiled, blocks), expected)
        << "round " << round << ": " << sources.size() << " of " << source_size << ", elements of "
        << shape.element_bytes << " bytes, inner " << shape.inner;
    EXPECT_LE(tiled->shared_bytes, 48U * 1024) << "round " << round;
  }
  EXPECT_GT(found, k_rounds / 2);
}

TEST(Tiled, ReachesNoFurtherThanAnAxis) {
  // 31 is less than the two vectors that its part of a tile is rounded up to.
  const BlockMap blocks = blocks_of(transpose(31, 31), 1);
  const auto tiled = find_tiled(blocks);
  ASSERT_TRUE(tiled);
  EXPECT_EQ(places_of(tiled->load), 31U * 31);
  EXPECT_EQ(moved(*tiled, blocks), transpose(31, 31));
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
  EXPECT_EQ(refusal(reversal(70'000), PermuteStrategy::staged),
            "strategy is staged: a row of 280000 bytes does not fit in the 232448 bytes of shared memory of a block; "
            "direct moves any map, automatic chooses");
  EXPECT_EQ(refusal({0, 1, 3, 2}, PermuteStrategy::tiled),
            "strategy is tiled: the map does not swap axes, or leaves no runs of 32 bytes; direct moves any map, "
            "automatic chooses");
}

}  // namespace
}  // namespace kiln::permutation
