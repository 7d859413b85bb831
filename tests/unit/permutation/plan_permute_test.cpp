#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "kiln/error.hpp"
#include "kiln/permuter.hpp"
#include "kiln/source.hpp"

namespace kiln {
namespace {

IndexMap make(const std::vector<std::int64_t>& sources, std::uint64_t source_size) { return {sources, source_size}; }

IndexMap reversal(std::uint64_t size) {
  std::vector<std::int64_t> sources(size);
  std::iota(sources.rbegin(), sources.rend(), 0);
  return make(sources, size);
}

/// Of a square with so many units a side: neighbours come from far apart.
IndexMap transpose(std::uint64_t side) {
  std::vector<std::int64_t> sources(side * side);
  for (std::uint64_t at = 0; at < sources.size(); ++at) {
    sources[at] = static_cast<std::int64_t>(at % side * side + at / side);
  }
  return make(sources, sources.size());
}

const Target k_target = Target::cubin(90);

TEST(PlanPermute, BakesAStagedMap) {
  PermuteRequest request = plan_permute(make({1, 2, 0}, 3), {.element_bytes = 8}, k_target);
  EXPECT_EQ(request.strategy, "staged");
  EXPECT_EQ(request.tmpl.name(), "permute_staged.cu");
  Values expected{{"unit", TypeName{"uint2"}},
                  {"element", TypeName{"uint2"}},
                  {"row_out", 3U},
                  {"row_in", 3U},
                  {"lanes", 1U},
                  {"rows_per_tile", 168U},
                  {"period_rows", 2U},
                  {"threads", 126U},
                  {"resident_threads", 2048U},
                  {"asynchronous", false},
                  {"index_bits", 8U},
                  {"table_bytes", 0U},
                  {"table", std::vector<std::uint64_t>{0x030504000201}}};
  EXPECT_EQ(instantiate(request.tmpl, request.values).literals, instantiate(request.tmpl, expected).literals);
  EXPECT_TRUE(request.table.empty());
  EXPECT_TRUE(request.module_data().bytes.empty());
}

TEST(PlanPermute, PutsALongTableOfTilesIntoModuleData) {
  const PermuteShape shape{.element_bytes = 2, .strategy = PermuteStrategy::staged};
  EXPECT_TRUE(plan_permute(reversal(16'384), shape, k_target).table.empty());
  const PermuteRequest request = plan_permute(reversal(16'392), shape, k_target);
  ASSERT_EQ(request.strategy, "staged");
  ASSERT_EQ(request.table.size(), 8196U) << "two entries a word";
  EXPECT_EQ(request.table.front(), 16'391U | 16'390U << 16);
  EXPECT_EQ(request.table.back(), 1U);
  EXPECT_EQ(*request.values.find("table_bytes"), Value(std::uint64_t{32'784}));
  EXPECT_EQ(request.module_data().symbol, "kiln_table");
}

TEST(PlanPermute, BakesADirectMap) {
  PermuteRequest request =
      plan_permute(make({1, 2, 0}, 3), {.element_bytes = 2, .inner = 6, .typical_rows = 1}, k_target);
  EXPECT_EQ(request.strategy, "direct");
  Values expected{{"unit", TypeName{"unsigned int"}},
                  {"element", TypeName{"unsigned short"}},
                  {"offset", TypeName{"unsigned int"}},
                  {"blocks_out", 3U},
                  {"blocks_in", 3U},
                  {"units_per_block", 3U},
                  {"threads", 256U},
                  {"index_bits", 8U},
                  {"table", std::vector<std::uint64_t>{0x000201}}};
  EXPECT_EQ(instantiate(request.tmpl, request.values).literals, instantiate(request.tmpl, expected).literals);
}

TEST(PlanPermute, GivesLargeMapsAsModuleData) {
  PermuteRequest request = plan_permute(reversal(70'000), {.typical_rows = 1}, k_target);
  EXPECT_EQ(request.tmpl.name(), "permute_direct_data.cu");
  ASSERT_EQ(request.table.size(), 70'000U);
  EXPECT_EQ(request.table.front(), 69'999U);
  ModuleData data = request.module_data();
  EXPECT_EQ(data.symbol, "kiln_table");
  EXPECT_EQ(data.bytes.size(), 280'000U);
  EXPECT_EQ(static_cast<const void*>(data.bytes.data()), request.table.data());
  EXPECT_LT(instantiate(request.tmpl, request.values).headers.front().text.size(), 1000U);
}

/// y[image][p][c] = x[image][c][p]
IndexMap planes_to_pixels(std::uint64_t channels, std::uint64_t plane, std::uint64_t images) {
  std::vector<std::int64_t> sources;
  for (std::uint64_t at = 0; at < channels * plane * images; ++at) {
    const std::uint64_t of_image = at % (channels * plane);
    sources.push_back(static_cast<std::int64_t>(at - of_image + of_image % channels * plane + of_image / channels));
  }
  return make(sources, sources.size());
}

TEST(PlanPermute, BakesChannelsThatChangePlaces) {
  const PermuteRequest request = plan_permute(planes_to_pixels(3, 8192, 8), {.element_bytes = 2}, k_target);
  EXPECT_EQ(request.strategy, "tiled");
  EXPECT_EQ(request.tmpl.name(), "permute_channels.cu");
  EXPECT_EQ(
      request.reason,
      "tiled: the map takes images of 8192 pixels of 3 units from planes to pixels, so that units change places in "
      "registers and 16-byte vectors go through shared memory; a row of 393216 bytes does not fit in the 232448 "
      "bytes of shared memory of a block");
  const Values expected{{"unit", TypeName{"unsigned short"}},
                        {"element", TypeName{"unsigned short"}},
                        {"channels", 3U},
                        {"plane", 8192U},
                        {"images", 8U},
                        {"to_pixels", true},
                        {"threads", 256U}};
  EXPECT_EQ(instantiate(request.tmpl, request.values).literals, instantiate(request.tmpl, expected).literals);
  ASSERT_EQ(request.steps.size(), 1U);
  const PermuteGeometry& geometry = request.steps.front().geometry;
  EXPECT_EQ(geometry.shared_bytes, 3U * 256 * 16);
  EXPECT_EQ(geometry.launch(1).grid.x, 32U) << "a vector a thread and plane";
  EXPECT_EQ(geometry.launch(5).grid.x, 5 * 32U);
}

TEST(PlanPermute, BlocksTakeChannelsOverTheEndsOfRows) {
  // Ten vectors a plane: those of 25 rows and six more are a block's.
  const PermuteShape shape{.element_bytes = 1, .strategy = PermuteStrategy::tiled};
  const PermuteGeometry geometry = plan_permute(planes_to_pixels(4, 160, 1), shape, k_target).steps.front().geometry;
  EXPECT_EQ(geometry.launch(25).grid.x, 1U);
  EXPECT_EQ(geometry.launch(26).grid.x, 2U);
}

TEST(PlanPermute, MovesLongRowsInTwoLaunchesThroughScratchMemory) {
  PermuteRequest request = plan_permute(transpose(512), {.strategy = PermuteStrategy::bucketed}, k_target);
  EXPECT_EQ(request.strategy, "bucketed");
  EXPECT_EQ(request.tmpl.name(), "permute_bucketed.cu");
  ASSERT_EQ(request.tmpl.entries(), (std::vector<std::string>{"permute_bucketed"}));
  ASSERT_EQ(request.steps.size(), 2U);
  EXPECT_TRUE(request.steps[0].to_scratch);
  EXPECT_FALSE(request.steps[0].from_scratch);
  EXPECT_FALSE(request.steps[1].to_scratch);
  EXPECT_TRUE(request.steps[1].from_scratch);
  // 16 segments of 16384 floats, the runs of each padded by 3 floats at most for each of 16 targets.
  EXPECT_EQ(request.scratch_bundle_bytes, 16U * 16 * ((16'384 + 16 * 3) / 4));
  EXPECT_EQ(request.module_data().symbol, "kiln_table");
  ASSERT_TRUE(request.relay);
  EXPECT_EQ(request.relay->group_blocks, 32U);
  EXPECT_EQ(request.relay->ring, 2U);
  EXPECT_EQ(request.relay->shared_bytes, 65'536U + 16 * 12);
  EXPECT_FALSE(plan_permute(transpose(512), {.strategy = PermuteStrategy::bucketed}, Target::cubin(120)).relay);
}

TEST(PlanPermute, MovesNarrowLongRowsSeveralAtOnce) {
  const PermuteRequest request =
      plan_permute(transpose(512), {.element_bytes = 1, .strategy = PermuteStrategy::bucketed}, k_target);
  EXPECT_EQ(request.bundle_rows, 4U);
  EXPECT_EQ(request.scratch_bundle_bytes, 16U * 16 * ((16'384 + 16 * 3) / 4));
  EXPECT_EQ(request.scratch_bytes(0), 0U);
  EXPECT_EQ(request.scratch_bytes(1), request.scratch_bundle_bytes);
  EXPECT_EQ(request.scratch_bytes(4), request.scratch_bundle_bytes);
  EXPECT_EQ(request.scratch_bytes(5), 2 * request.scratch_bundle_bytes);
  for (const PermuteStep& step : request.steps) {
    EXPECT_EQ(step.geometry.launch(4).grid.x, 16U);
    EXPECT_EQ(step.geometry.launch(5).grid.x, 32U);
  }
  EXPECT_THAT(request.reason, testing::HasSubstr("segments of 16384 units, 4 rows at once"));
}

TEST(RunSteps, GivesEachStepItsBuffers) {
  PermuteRequest request = plan_permute(transpose(512), {.strategy = PermuteStrategy::bucketed}, k_target);
  char y = 0;
  char x = 0;
  char scratch = 0;
  std::vector<std::pair<const void*, const void*>> buffers;
  const auto pointer = [](const Argument& argument) { return *static_cast<const void* const*>(argument.address); };
  run_steps(request.steps, &y, &x, &scratch, 5, [&](const LaunchConfig& config, std::span<const Argument> arguments) {
    ASSERT_EQ(arguments.size(), 6U);
    buffers.emplace_back(pointer(arguments[0]), pointer(arguments[1]));
    EXPECT_EQ(pointer(arguments[2]), &scratch);
    EXPECT_EQ(pointer(arguments[3]), nullptr) << "no counters";
    EXPECT_EQ(*static_cast<const unsigned long long*>(arguments[4].address), 5U);
    EXPECT_EQ(arguments[4].size, 8U);
    EXPECT_EQ(arguments[5].size, 4U);
    EXPECT_EQ(config.grid.x, 80U);
  });
  EXPECT_EQ(buffers, (std::vector<std::pair<const void*, const void*>>{{nullptr, &x}, {&y, nullptr}}));
}

TEST(PlanPermute, TypicalRowsChangeTheChoiceOnly) {
  auto strategy_for = [](std::uint64_t rows) {
    return plan_permute(reversal(36), {.typical_rows = rows}, k_target).strategy;
  };
  EXPECT_EQ(strategy_for(0), "staged");
  EXPECT_EQ(strategy_for(10), "direct");
  EXPECT_EQ(strategy_for(1'000'000), "staged");
}

TEST(PlanPermute, CountsRowsOfManyUnitsIn64Bits) {
  PermuteRequest request = plan_permute(make({1, 0}, 2), {.inner = std::uint64_t{1} << 35}, k_target);
  auto literals = instantiate(request.tmpl, request.values).literals;
  EXPECT_THAT(literals, testing::Contains(std::pair<std::string, std::string>("offset", "unsigned long long")));
}

TEST(PlanPermute, RefusesANativeTarget) {
  try {
    plan_permute(reversal(3), {}, Target::native());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), testing::StartsWith("target is native"));
  }
}

TEST(PlanPermute, RefusesAShapeNamingTheField) {
  EXPECT_THROW(plan_permute(reversal(3), {.element_bytes = 3}, k_target), Error);
  EXPECT_THROW(plan_permute(reversal(3), {.inner = 0}, k_target), Error);
}

TEST(PermuteGeometry, LaunchesOneBlockForEachPartOfTheWork) {
  PermuteGeometry geometry{.threads = 288, .shared_bytes = 100, .work_per_row = 1, .work_per_block = 128};
  LaunchConfig config = geometry.launch(1000);
  EXPECT_EQ(config.grid.x, 8U);
  EXPECT_EQ(config.grid.y, 1U);
  EXPECT_EQ(config.block.x, 288U);
  EXPECT_EQ(config.shared_bytes, 100U);
  EXPECT_EQ(geometry.launch(1024).grid.x, 8U);
  EXPECT_EQ(geometry.launch(1025).grid.x, 9U);
  EXPECT_EQ(geometry.launch(1).grid.x, 1U);
  EXPECT_EQ(geometry.launch(0).grid.x, 0U);
}

TEST(PermuteGeometry, TakesRowsInTurnWhereThereAreMany) {
  PermuteGeometry geometry{.threads = 512, .work_per_row = 8, .work_per_block = 1, .rows_in_turn = 4};
  EXPECT_EQ(geometry.launch(1).grid.x, 8U);
  EXPECT_EQ(geometry.launch(128).grid.x, 1024U);
  EXPECT_EQ(geometry.launch(256).grid.x, 1024U);
  EXPECT_EQ(geometry.launch(257).grid.x, 8 * 129U);
  EXPECT_EQ(geometry.launch(1000).grid.x, 2000U);
}

TEST(PermuteGeometry, CountsRowsThatMoveTogetherAsOne) {
  PermuteGeometry geometry{.threads = 512, .work_per_row = 8, .work_per_block = 1, .rows_in_turn = 4, .bundle_rows = 4};
  EXPECT_EQ(geometry.launch(0).grid.x, 0U);
  EXPECT_EQ(geometry.launch(1).grid.x, 8U);
  EXPECT_EQ(geometry.launch(4).grid.x, 8U);
  EXPECT_EQ(geometry.launch(5).grid.x, 16U);
  EXPECT_EQ(geometry.launch(4 * 256).grid.x, 1024U);
  EXPECT_EQ(geometry.launch(4 * 256 + 1).grid.x, 8 * 129U);
}

TEST(PermuteGeometry, GoesOnInTheSecondDimension) {
  PermuteGeometry geometry{.threads = 256, .shared_bytes = 0, .work_per_row = 1, .work_per_block = 1};
  for (std::uint64_t rows : {(std::uint64_t{1} << 31) - 1, std::uint64_t{1} << 31, (std::uint64_t{1} << 31) + 1,
                             std::uint64_t{3} << 32, std::uint64_t{1} << 40}) {
    LaunchConfig config = geometry.launch(rows);
    EXPECT_LE(config.grid.x, 0x7fffffffU);
    EXPECT_LE(config.grid.y, 65'535U);
    std::uint64_t blocks = std::uint64_t{config.grid.x} * config.grid.y;
    EXPECT_GE(blocks, rows);
    EXPECT_LT(blocks - rows, config.grid.y);  // less than one block a line is too many
  }
}

TEST(PermuteGeometry, NeverAsksForMoreThanAGrid) {
  PermuteGeometry geometry{.threads = 256, .shared_bytes = 0, .work_per_row = 1 << 20, .work_per_block = 256};
  LaunchConfig config = geometry.launch(std::uint64_t{1} << 40);
  EXPECT_EQ(config.grid.x, 0x7fffffffU);
  EXPECT_EQ(config.grid.y, 65'535U);
}

}  // namespace
}  // namespace kiln
