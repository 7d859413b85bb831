// The permutation's templates, as their kernels are made, against the definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "emulated/permutation_batch.hpp"
#include "emulation/sanitizers.hpp"
#include "kiln/error.hpp"
#include "permutation/bucketed_request.hpp"
#include "permutation/channels.hpp"
#include "support/emulation_batch.hpp"

namespace kiln {
namespace {

using testing::PermutationCase;
using testing::PermutationCoverage;

/// Kernels, each with about 30 launches: compiling one for the host takes longer than all of those. The sanitizers take
/// several times as long for one.
constexpr std::size_t kernels_of(std::size_t kernels) {
  return emulation::sanitizers::k_address ? kernels / 6 : kernels;
}

// With those of rows_test.cpp, more than 20,000 launches: of kernels and shapes that were never the same.
constexpr std::size_t k_chosen = kernels_of(240);
constexpr std::size_t k_staged = kernels_of(200);
constexpr std::size_t k_tiled = kernels_of(200);
constexpr std::size_t k_channels = kernels_of(80);
constexpr std::size_t k_bucketed = kernels_of(120);

TEST(EmulatedPermutation, GeneratedCasesFollowTheDefinition) {
  auto batch = testing::check_permutations(k_chosen, testing::generate_permutation_case);
  EXPECT_TRUE(batch.failures.empty()) << testing::to_text(batch.failures);
  EXPECT_GE(batch.launches, 26 * k_chosen);
  EXPECT_GE(batch.kernels["direct"], k_chosen / 5);
  EXPECT_GE(batch.kernels["staged"], k_chosen / 5);
}

TEST(EmulatedPermutation, StagedTilesOfAnyShapeFollowTheDefinition) {
  auto batch = testing::check_permutations(k_staged, testing::generate_staged_case,
                                           [](const PermutationCase& item, const PermutationCoverage&) {
                                             return std::vector{std::to_string(item.staged->lanes) + " lanes"};
                                           });
  EXPECT_TRUE(batch.failures.empty()) << testing::to_text(batch.failures);
  EXPECT_GE(batch.launches, 22 * k_staged);
  EXPECT_GE(batch.kernels["1 lanes"], k_staged / 4);
  EXPECT_GE(batch.kernels["2 lanes"], k_staged / 20);
  EXPECT_GE(batch.kernels["4 lanes"], k_staged / 40);
}

TEST(EmulatedPermutation, SwappedAxesInTilesFollowTheDefinition) {
  auto batch = testing::check_permutations(k_tiled, [](std::size_t number) -> std::optional<PermutationCase> {
    PermutationCase item = testing::generate_tiled_case(number);
    try {
      const IndexMap map(std::span<const std::uint32_t>(item.sources), item.source_size);
      (void)plan_permute(map, item.shape, item.target);
    } catch (const Error&) {
      return std::nullopt;  // runs too short
    }
    return item;
  });
  EXPECT_TRUE(batch.failures.empty()) << testing::to_text(batch.failures);
  EXPECT_GE(batch.kernels["tiled"], k_tiled / 2);
  EXPECT_GE(batch.launches, 8 * k_tiled);
}

TEST(EmulatedPermutation, ImagesFollowTheDefinition) {
  auto batch = testing::check_permutations(
      k_channels, testing::generate_channels_case, [](const PermutationCase& item, const PermutationCoverage&) {
        const IndexMap map(std::span<const std::uint32_t>(item.sources), item.source_size);
        const permutation::BlockMap blocks = permutation::block_map(map, item.shape);
        const permutation::Channels plan = permutation::find_channels(blocks).value();
        return std::vector<std::string>{plan.to_pixels ? "to pixels" : "to planes",
                                        plan.has_whole_vectors(blocks.unit_bytes) ? "whole vectors" : "cut vectors"};
      });
  EXPECT_TRUE(batch.failures.empty()) << testing::to_text(batch.failures);
  EXPECT_GE(batch.launches, 8 * k_channels);
  for (const char* name : {"to pixels", "to planes", "whole vectors", "cut vectors"}) {
    EXPECT_GE(batch.kernels[name], k_channels / 4) << name;
  }
}

TEST(EmulatedPermutation, SegmentsOfAnyBundleFollowTheDefinition) {
  auto batch = testing::check_permutations(k_bucketed, testing::generate_bucketed_case,
                                           [](const PermutationCase& item, const PermutationCoverage&) {
                                             return std::vector{std::to_string(item.bucketed->lanes) + " lanes"};
                                           });
  EXPECT_TRUE(batch.failures.empty()) << testing::to_text(batch.failures);
  EXPECT_GE(batch.launches, 15 * k_bucketed);
  EXPECT_GE(batch.kernels["1 lanes"], k_bucketed / 4);
  EXPECT_GE(batch.kernels["2 lanes"], k_bucketed / 20);
  EXPECT_GE(batch.kernels["4 lanes"], k_bucketed / 20);
}

PermutationCase case_of(std::string kind, std::uint64_t size, const char* target) {
  PermutationCase item;
  item.kind = std::move(kind);
  item.source_size = size;
  item.target = Target::parse(target);
  item.sources.resize(size);
  for (std::uint64_t j = 0; j < size; ++j) {
    item.sources[j] = static_cast<std::uint32_t>((j * 40503 + 7) % size);
  }
  return item;
}

TEST(EmulatedPermutation, LongRowsFollowTheDefinition) {
  struct Long {
    std::uint64_t size;
    unsigned element_bytes;
    const char* target;
    const char* strategy;
    bool module_data;
  };
  const std::vector<Long> items = {{16384, 4, "sm_90", "staged", false},   {50000, 4, "sm_90", "staged", true},
                                   {28672, 8, "sm_100", "staged", true},   {14000, 16, "sm_90a", "staged", false},
                                   {65536, 1, "sm_90", "staged", true},    {50000, 2, "sm_80", "staged", true},
                                   {16384, 8, "sm_80", "staged", false},   {50000, 4, "sm_80", "bucketed", true},
                                   {65536, 4, "sm_120", "bucketed", true}, {65537, 2, "sm_90", "bucketed", true},
                                   {100003, 4, "sm_90", "bucketed", true}, {70001, 16, "sm_75", "direct", true},
                                   {262144, 4, "sm_90", "bucketed", true}, {300007, 1, "sm_90", "bucketed", true}};
  const auto failures = testing::run_batch(items.size(), [&](std::size_t number) {
    const Long& expected = items[number];
    PermutationCase item = case_of("spread", expected.size, expected.target);
    item.shape.element_bytes = expected.element_bytes;
    item.launches = {{1, 0, 0}, {3, 1, 0}, {2, 0, 3}};
    PermutationCoverage coverage;
    auto wrong = testing::check_permutation(item, &coverage);
    EXPECT_EQ(coverage.strategy, expected.strategy) << testing::to_text(item);
    EXPECT_EQ(coverage.module_data, expected.module_data) << testing::to_text(item);
    return wrong;
  });
  EXPECT_TRUE(failures.empty()) << testing::to_text(failures);
}

/// Segments far smaller than any device needs, so that a short row has many of them.
TEST(EmulatedPermutation, RowsInSmallSegmentsFollowTheDefinition) {
  struct Segmented {
    std::uint64_t size;
    std::uint64_t source_size;
    std::uint64_t segment;
    std::uint64_t inner;
    bool repeated;
  };
  const std::vector<Segmented> items = {
      {4096, 4096, 256, 1, false}, {4095, 4095, 256, 1, false}, {4097, 4097, 256, 1, false},
      {1000, 1000, 16, 1, false},  {997, 997, 64, 1, false},    {3000, 2000, 128, 1, true},
      {2000, 3001, 128, 1, true},  {9000, 1000, 256, 1, true},  {500, 500, 1024, 1, false},
      {999, 999, 64, 3, false},    {700, 700, 128, 2, false},   {20'000, 20'000, 512, 1, false}};
  const std::vector<unsigned> sizes = {1, 2, 4, 8, 16};
  const std::vector<const char*> targets = {"sm_75", "sm_80", "sm_90", "sm_120"};
  // Item and size by the same number: they have no common factor, so that all of them are every pair.
  const auto failures = testing::run_batch(kernels_of(items.size() * sizes.size()), [&](std::size_t number) {
    const Segmented& segmented = items[number % items.size()];
    const std::size_t round = number + number / items.size();
    PermutationCase item;
    item.kind = segmented.repeated ? "repeated" : "spread";
    item.source_size = segmented.source_size;
    item.target = Target::parse(targets[round % targets.size()]);
    item.shape = {.element_bytes = sizes[number % sizes.size()], .inner = segmented.inner};
    item.sources.resize(segmented.size);
    std::iota(item.sources.begin(), item.sources.end(), 0U);
    std::mt19937 random(static_cast<unsigned>(number));
    for (std::size_t j = segmented.size; j > 1; --j) {
      std::swap(item.sources[j - 1], item.sources[random() % j]);
    }
    if (segmented.repeated) {
      for (std::uint32_t& source : item.sources) {
        source = static_cast<std::uint32_t>(random() % segmented.source_size);
      }
    }
    item.launches = {{1, 0, 0}, {7, 0, 0}, {3, 1, 0}, {2, 0, 3}, {2, 5, 5}};
    const IndexMap map(std::span<const std::uint32_t>(item.sources), item.source_size);
    const permutation::BlockMap blocks = permutation::block_map(map, item.shape);
    auto plan = permutation::bucketed_with(blocks, segmented.segment, round % 2 == 0 ? 64 : 96);
    if (!plan) {
      return std::optional<std::string>("no plan for " + testing::to_text(item));
    }
    plan->relay = true;
    return testing::check_request(item, permutation::bucketed_request(blocks, *plan));
  });
  EXPECT_TRUE(failures.empty()) << testing::to_text(failures);
}

/// As where there are more bundles than keep the device busy: that many blocks take long here.
TEST(EmulatedPermutation, BlocksThatTakeBundlesInTurnFollowTheDefinition) {
  const std::vector<std::pair<unsigned, unsigned>> bytes_and_lanes = {{1, 4}, {1, 2}, {2, 2}, {1, 1}, {4, 1}};
  const auto failures = testing::run_batch(2 * bytes_and_lanes.size(), [&](std::size_t number) {
    const auto& [bytes, lanes] = bytes_and_lanes[number / 2];
    PermutationCase item = case_of("spread", number % 2 == 0 ? 1024 : 1021, "sm_90");
    item.shape.element_bytes = bytes;
    item.launches = {{12 * lanes + 1, 0, 0}, {17 * lanes - 1, 1, 3}};
    const IndexMap map(std::span<const std::uint32_t>(item.sources), item.source_size);
    const permutation::BlockMap blocks = permutation::block_map(map, item.shape);
    PermuteRequest request =
        permutation::bucketed_request(blocks, permutation::bucketed_with(blocks, 128, 64, lanes).value());
    for (PermuteStep& step : request.steps) {
      step.geometry.work_per_block = 5;  // bundles, nearly
    }
    return testing::check_request(item, request);
  });
  EXPECT_TRUE(failures.empty()) << testing::to_text(failures);
}

TEST(EmulatedPermutation, EveryElementSizeTakesEveryAlignment) {
  const std::vector<unsigned> sizes = {1, 2, 4, 8, 16};
  const auto failures = testing::run_batch(2 * sizes.size(), [&](std::size_t number) {
    PermutationCase item = case_of("spread", 37, "sm_90");
    item.shape.element_bytes = sizes[number / 2];
    item.shape.typical_rows = number % 2;
    for (unsigned offset = 0; offset < std::max(16 / item.shape.element_bytes, 1U); ++offset) {
      item.launches.push_back({50, offset, 0});
      item.launches.push_back({50, 0, offset});
      item.launches.push_back({51, offset, offset});
    }
    return testing::check_permutation(item);
  });
  EXPECT_TRUE(failures.empty()) << testing::to_text(failures);
}

TEST(MinimisePermutation, KeepsWhatMakesItFail) {
  PermutationCase item = case_of("spread", 1000, "sm_90");
  item.shape.inner = 3;
  item.launches = {{77, 2, 3}};
  const auto fails = [](const PermutationCase& smaller) {
    const auto& sources = smaller.sources;
    return std::find(sources.begin(), sources.end(), 510U) != sources.end() && smaller.launches.front().y_offset != 0;
  };
  ASSERT_TRUE(fails(item));
  const PermutationCase least = testing::minimise(item, fails, 1000);
  EXPECT_EQ(least.sources, (std::vector<std::uint32_t>{510}));
  EXPECT_EQ(least.source_size, 511U);
  EXPECT_EQ(least.shape.inner, 1U);
  EXPECT_EQ(least.launches.front().rows, 1U);
  EXPECT_EQ(least.launches.front().x_offset, 0U);
  EXPECT_EQ(least.launches.front().y_offset, 3U);
}

}  // namespace
}  // namespace kiln
