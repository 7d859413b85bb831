#include "permutation/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "kiln/source.hpp"

namespace kiln::permutation {
namespace {

IndexMap make(const std::vector<std::int64_t>& sources, std::uint64_t source_size) { return {sources, source_size}; }

/// Nothing stays with its neighbour.
IndexMap reversal(std::uint64_t size) {
  std::vector<std::int64_t> sources(size);
  std::iota(sources.rbegin(), sources.rend(), 0);
  return make(sources, size);
}

const Target k_target = Target::cubin(90);

RowChoice choice_for(const IndexMap& map, const PermuteShape& shape, const Target& target = k_target) {
  return choose_for_rows(row_map(map, shape), shape, target);
}

Rows rows_for(const IndexMap& map, const PermuteShape& shape, const Target& target = k_target) {
  const RowChoice choice = choice_for(map, shape, target);
  const Rows* rows = std::get_if<Rows>(&choice.strategy);
  EXPECT_NE(rows, nullptr) << choice.reason;
  return rows == nullptr ? Rows{} : *rows;
}

TEST(PlanRows, IsForWhatIsPitchedOrInPlaceAlone) {
  const IndexMap map = reversal(36);
  EXPECT_EQ(plan_permute(map, {}, k_target).strategy, "staged");
  EXPECT_EQ(plan_permute(map, {.row_stride_in = 36, .row_stride_out = 36}, k_target).strategy, "staged");
  EXPECT_EQ(plan_permute(map, {.row_stride_in = 37}, k_target).strategy, "rows");
  EXPECT_EQ(plan_permute(map, {.row_stride_out = 37}, k_target).strategy, "rows");
  EXPECT_EQ(plan_permute(map, {.in_place = true}, k_target).strategy, "rows");
  EXPECT_EQ(plan_permute(map, {.typical_rows = 10, .row_stride_in = 37}, k_target).strategy, "elements");
}

TEST(PlanRows, BakesRowsThatArePitched) {
  const PermuteRequest request =
      plan_permute(make({1, 2, 0}, 3), {.element_bytes = 8, .row_stride_in = 4, .row_stride_out = 6}, k_target);
  EXPECT_EQ(request.tmpl.name(), "permute_rows.cu");
  const Values expected{{"unit", TypeName{"uint2"}},
                        {"element", TypeName{"uint2"}},
                        {"row_out", 3U},
                        {"row_in", 3U},
                        {"stride_out", 48U},
                        {"stride_in", 32U},
                        {"line_rows", 1U},  // y starts with a vector in every row
                        {"lanes", 1U},
                        {"lane_lines", 128U},  // of two vectors, twice as many as threads have at once
                        {"lane_distance", 128U},
                        {"threads", 128U},
                        {"resident_threads", 1024U},
                        {"asynchronous", false},
                        {"in_place", false},
                        {"has_ending", false},
                        {"index_bits", 8U},
                        {"table_bytes", 0U},
                        {"table", std::vector<std::uint64_t>{0x00000201}}};
  EXPECT_EQ(instantiate(request.tmpl, request.values).literals, instantiate(request.tmpl, expected).literals);
  ASSERT_EQ(request.steps.size(), 1U);
  EXPECT_EQ(request.steps.front().geometry.work_per_block, 128U);
  EXPECT_EQ(request.steps.front().geometry.shared_bytes, 127U * 32 + 24 + 8);  // a run, which may start between vectors
  EXPECT_TRUE(request.module_data().symbol.empty());
}

TEST(PlanRows, BakesASmallLaunch) {
  const PermuteRequest request = plan_permute(
      make({1, 2, 0}, 3), {.element_bytes = 2, .inner = 6, .typical_rows = 1, .row_stride_in = 19}, k_target);
  EXPECT_EQ(request.tmpl.name(), "permute_elements.cu");
  const Values expected{{"unit", TypeName{"unsigned short"}},  // the stride parts wider units
                        {"element", TypeName{"unsigned short"}},
                        {"offset", TypeName{"unsigned int"}},
                        {"blocks_out", 3U},
                        {"units_per_block", 6U},
                        {"stride_out", 36U},
                        {"stride_in", 38U},
                        {"threads", 256U},
                        {"has_ending", false},
                        {"index_bits", 8U},
                        {"table_bytes", 0U},
                        {"table", std::vector<std::uint64_t>{0x000201}}};
  EXPECT_EQ(instantiate(request.tmpl, request.values).literals, instantiate(request.tmpl, expected).literals);
}

TEST(ChooseRows, MergesShortRowsUntilTheyAreWholeVectors) {
  EXPECT_EQ(rows_for(reversal(37), {.in_place = true}).line_rows, 4U);  // 148 bytes
  EXPECT_EQ(rows_for(reversal(36), {.in_place = true}).line_rows, 1U);
  EXPECT_EQ(rows_for(reversal(37), {.element_bytes = 1, .in_place = true}).line_rows, 16U);
  EXPECT_EQ(rows_for(reversal(36), {.row_stride_in = 37, .row_stride_out = 38}).line_rows, 4U);
  EXPECT_EQ(rows_for(reversal(36), {.row_stride_in = 36, .row_stride_out = 50}).line_rows, 1U);  // much between rows
  EXPECT_EQ(rows_for(reversal(36), {.element_bytes = 1, .row_stride_in = 37, .row_stride_out = 37}).line_rows, 1U);
  EXPECT_EQ(rows_for(reversal(997), {.in_place = true}).line_rows, 1U);  // four are 16 KB
}

TEST(ChooseRows, TilesAndThreadsGrowWithTheRow) {
  const auto check = [](std::uint64_t size, unsigned lines, unsigned threads, bool asynchronous) {
    const Rows rows = rows_for(reversal(size), {.row_stride_in = size + 4, .row_stride_out = size + 8});
    EXPECT_EQ(rows.lane_lines, lines) << size;
    EXPECT_EQ(rows.threads, threads) << size;
    EXPECT_EQ(rows.asynchronous, asynchronous) << size;
  };
  check(36, 28, 128, false);  // 14 lines of 9 vectors at a time
  check(256, 4, 128, false);
  check(600, 4, 160, false);  // of 150 vectors, one after another
  check(1000, 1, 128, false);
  check(1024, 1, 128, false);
  check(2000, 1, 128, false);
  check(4096, 1, 256, false);
  check(16'384, 1, 512, true);
  check(50'000, 1, 1024, true);
}

TEST(ChooseRows, TakesSmallBlocksBetweenVectors) {
  const auto check = [](unsigned element_bytes, std::uint64_t size, unsigned lines, unsigned threads) {
    const Rows rows = rows_for(reversal(size),
                               {.element_bytes = element_bytes, .row_stride_in = size + 1, .row_stride_out = size + 3});
    EXPECT_EQ(rows.lane_lines, lines) << size;
    EXPECT_EQ(rows.threads, threads) << size;
  };
  check(4, 1000, 2, 128);  // of 251 vectors
  check(4, 2000, 1, 128);
  check(4, 4096, 1, 128);
  check(8, 1000, 1, 128);
  check(8, 4096, 1, 256);  // 2049 vectors
}

TEST(ChooseRows, TakesBytesBetweenVectorsInOneTurn) {
  const auto check = [](std::uint64_t size, std::uint64_t pad, unsigned threads, unsigned resident) {
    const Rows rows =
        rows_for(reversal(size), {.element_bytes = 1, .row_stride_in = size + pad, .row_stride_out = size + pad});
    EXPECT_EQ(rows.threads, threads) << size;
    EXPECT_EQ(rows.resident_threads, resident) << size;
  };
  check(1000, 1, 128, 1024);  // two lines of 64 vectors
  check(2001, 2, 128, 1536);  // of 126 vectors
  check(4096, 1, 288, 1536);  // of 257
  check(6001, 2, 384, 1536);
  check(8191, 2, 192, 1024);   // of 513
  check(4096, 16, 256, 1024);  // lines that start with vectors
}

TEST(ChooseRows, ConversionsDoWithFewRegisters) {
  const auto resident = [](unsigned element_bytes, const PermuteEnding& ending, std::uint64_t size) {
    return rows_for(reversal(size), {.element_bytes = element_bytes, .ending = ending}).resident_threads;
  };
  EXPECT_EQ(resident(2, {.from = "f16", .to = "f32"}, 1000), 2048U);
  EXPECT_EQ(resident(2, {.from = "f16", .to = "e4m3"}, 4096), 2048U);
  EXPECT_EQ(resident(4, {.from = "f32", .to = "f16"}, 4096), 1280U);
  EXPECT_EQ(resident(4, {.from = "f32", .to = "i8"}, 1000), 1280U);
  EXPECT_EQ(resident(1, {.from = "e4m3", .to = "f16"}, 1000), 1536U);
  EXPECT_EQ(resident(1, {.from = "e4m3", .to = "f16"}, 4096), 1024U);  // of 512 vectors
  // Nobody knows what an expression takes.
  EXPECT_EQ(resident(2, {.from = "f16", .to = "e4m3", .expression = "value * 2.0f"}, 4096), 512U);
  EXPECT_EQ(resident(4, {.from = "f32", .to = "f16", .expression = "value * 2.0f"}, 4096), 1024U);
}

TEST(ChooseRows, MovesSmallUnitsSeveralRowsAtATime) {
  const auto check = [](unsigned element_bytes, std::uint64_t size, std::uint64_t pad, unsigned lanes, unsigned lines,
                        unsigned distance) {
    const Rows rows = rows_for(
        reversal(size), {.element_bytes = element_bytes, .row_stride_in = size + pad, .row_stride_out = size + pad});
    EXPECT_EQ(rows.lanes, lanes) << size;
    EXPECT_EQ(rows.lane_lines, lines) << size;
    EXPECT_EQ(rows.lane_distance, distance) << size;
  };
  check(1, 1024, 16, 4, 2, 2);  // lines of 64 vectors
  check(1, 4096, 16, 4, 1, 1);
  check(1, 4096, 1, 4, 1, 16);    // after 16 lines of 4097 bytes addresses are alike
  check(1, 1000, 2, 4, 2, 8);     // of 64 vectors and 1002 bytes
  check(1, 36, 1, 2, 32, 32);     // short rows fewer at a time
  check(1, 30'000, 16, 2, 1, 1);  // long rows, too
  check(1, 120'000, 16, 1, 1, 1);
  check(2, 1000, 8, 2, 1, 1);
  check(2, 4096, 1, 2, 1, 8);
  check(2, 36, 4, 1, 50, 50);  // 25 lines of 5 vectors at a time
  check(2, 30'000, 8, 1, 1, 1);
}

TEST(ChooseRows, GivesTablesThatAreTooLongAsModuleData) {
  const PermuteRequest request = plan_permute(reversal(70'000), {.element_bytes = 1, .in_place = true}, k_target);
  EXPECT_EQ(request.strategy, "rows");
  const ModuleData data = request.module_data();
  EXPECT_EQ(data.symbol, "kiln_table");
  EXPECT_EQ(data.bytes.size(), 280'000U);  // 32 bits each
  EXPECT_EQ(request.table.front(), 69'999U);
  const Source source = instantiate(request.tmpl, request.values);
  EXPECT_LT(source.headers.front().text.size(), 2000U);
  EXPECT_THAT(source.literals, testing::Contains(std::pair<std::string, std::string>("table_bytes", "280000u")));
}

TEST(ChooseForRows, LongRowsGoElementByElement) {
  EXPECT_THAT(choice_for(reversal(50'000), {.row_stride_in = 50'004}, Target::cubin(80)).reason,
              testing::HasSubstr("a row of 200000 bytes does not fit in the 166912 bytes of shared memory"));
  EXPECT_EQ(plan_permute(reversal(50'000), {.row_stride_in = 50'004}, Target::cubin(80)).strategy, "elements");
  EXPECT_EQ(plan_permute(reversal(50'000), {.row_stride_in = 50'004}, Target::cubin(90)).strategy, "rows");
  EXPECT_EQ(plan_permute(reversal(70'000), {.row_stride_in = 70'004}, Target::cubin(80)).table.size(), 70'000U);
}

TEST(ChooseForRows, WideBlocksGoElementByElementWhereTheyAreAligned) {
  EXPECT_EQ(plan_permute(reversal(100), {.inner = 16, .row_stride_in = 1604}, k_target).strategy, "elements");
  EXPECT_EQ(plan_permute(reversal(100), {.inner = 16, .row_stride_in = 1601}, k_target).strategy, "rows");
}

TEST(ChooseForRows, FewOfManySourcesGoElementByElement) {
  EXPECT_EQ(plan_permute(make({7, 1000}, 2000), {.row_stride_in = 2004}, k_target).strategy, "elements");
}

TEST(ChooseForRows, RefusesInPlaceWhatDoesNotFit) {
  const auto refusal = [](std::uint64_t size, const Target& target) -> std::string {
    try {
      plan_permute(reversal(size), {.in_place = true}, target);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_EQ(refusal(50'000, Target::cubin(80)),
            "in_place is true, but a row of 200000 bytes does not fit into the 166912 bytes of shared memory that a "
            "block of sm_80 may have: permute into another buffer");
  EXPECT_EQ(refusal(50'000, k_target), "nothing was thrown");
}

TEST(ChooseForRows, TakesWhatIsAskedForIfItCan) {
  const auto strategy_of = [](const PermuteShape& shape) -> std::string {
    try {
      const PermuteRequest request = plan_permute(reversal(60'000), shape, k_target);
      EXPECT_EQ(request.reason, request.strategy + ": asked for");
      return request.strategy;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
  };
  EXPECT_EQ(strategy_of({.element_bytes = 1, .strategy = PermuteStrategy::rows}), "rows");
  EXPECT_EQ(strategy_of({.strategy = PermuteStrategy::elements, .row_stride_in = 60'001}), "elements");
  EXPECT_THAT(strategy_of({.strategy = PermuteStrategy::rows}),
              testing::StartsWith("strategy is rows: a row of 240000 bytes does not fit"));
  EXPECT_THAT(strategy_of({.element_bytes = 1, .strategy = PermuteStrategy::elements, .in_place = true}),
              testing::StartsWith("strategy is elements: in place"));
  for (const PermuteStrategy dense :
       {PermuteStrategy::direct, PermuteStrategy::staged, PermuteStrategy::tiled, PermuteStrategy::bucketed}) {
    EXPECT_THAT(strategy_of({.strategy = dense, .row_stride_in = 60'001}),
                testing::StartsWith("strategy is one for dense rows"));
  }
}

}  // namespace
}  // namespace kiln::permutation
