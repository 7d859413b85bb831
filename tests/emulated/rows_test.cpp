// The templates for rows that are pitched or permuted in place, as their kernels are made, against the definition.
#include <gtest/gtest.h>

#include "emulated/permutation_batch.hpp"
#include "emulation/sanitizers.hpp"
#include "support/emulation_batch.hpp"

namespace kiln {
namespace {

using testing::PermutationCase;
using testing::PermutationCoverage;

constexpr std::size_t k_kernels = emulation::sanitizers::k_address ? 28 : 165;
constexpr std::size_t k_endings = emulation::sanitizers::k_address ? 19 : 114;

TEST(EmulatedRows, GeneratedCasesFollowTheDefinition) {
  auto batch = testing::check_permutations(
      k_kernels, testing::generate_rows_case, [](const PermutationCase& item, const PermutationCoverage& coverage) {
        return std::vector<std::string>{coverage.strategy, item.shape.in_place ? "in place" : "into y"};
      });
  EXPECT_TRUE(batch.failures.empty()) << testing::to_text(batch.failures);
  EXPECT_GE(batch.launches, 26 * k_kernels);
  EXPECT_GE(batch.kernels["rows"], k_kernels / 2);
  EXPECT_GE(batch.kernels["elements"], k_kernels / 8);
  EXPECT_GE(batch.kernels["in place"], k_kernels / 8);
}

TEST(EmulatedRows, EndingsFollowTheDefinition) {
  auto batch = testing::check_permutations(k_endings, testing::generate_ending_case);
  EXPECT_TRUE(batch.failures.empty()) << testing::to_text(batch.failures);
  EXPECT_GE(batch.launches, 26 * k_endings);
  EXPECT_GE(batch.kernels["rows"], k_endings / 2);
  EXPECT_GE(batch.kernels["elements"], k_endings / 8);
}

/// A permutation of `size` positions that keeps no two neighbours together.
PermutationCase spread(std::uint64_t size, const char* target) {
  PermutationCase item;
  item.kind = "spread";
  item.source_size = size;
  item.target = Target::parse(target);
  for (std::uint64_t j = 0; j < size; ++j) {
    item.sources.push_back(static_cast<std::uint32_t>((j * 40503 + 7) % size));
  }
  return item;
}

TEST(EmulatedRows, LongRowsFollowTheDefinition) {
  struct Long {
    std::uint64_t size;
    unsigned element_bytes;
    std::uint64_t stride;
    bool in_place;
    const char* target;
    const char* strategy;
    bool module_data;
  };
  const std::vector<Long> items = {
      {16'384, 4, 16'388, true, "sm_90", "rows", false},     {50'000, 4, 50'001, false, "sm_90", "rows", true},
      {50'000, 4, 0, true, "sm_90", "rows", true},           {200'003, 1, 0, true, "sm_90", "rows", true},
      {100'001, 1, 100'002, false, "sm_100", "rows", true},  {7'001, 16, 7'002, true, "sm_80", "rows", false},
      {50'001, 4, 50'004, false, "sm_80", "elements", true}, {65'537, 2, 70'000, false, "sm_75", "elements", true},
      {70'001, 16, 70'001, false, "sm_90", "direct", true}};
  const auto failures = testing::run_batch(items.size(), [&](std::size_t number) {
    const Long& expected = items[number];
    PermutationCase item = spread(expected.size, expected.target);
    item.shape.element_bytes = expected.element_bytes;
    item.shape.row_stride_in = expected.stride;
    item.shape.row_stride_out = expected.stride;
    item.shape.in_place = expected.in_place;
    item.launches = {{1, 0, 0}, {3, 1, 1}, {2, 3, 3}};
    PermutationCoverage coverage;
    auto wrong = testing::check_permutation(item, &coverage);
    EXPECT_EQ(coverage.strategy, expected.strategy) << testing::to_text(item);
    EXPECT_EQ(coverage.module_data, expected.module_data) << testing::to_text(item);
    return wrong;
  });
  EXPECT_TRUE(failures.empty()) << testing::to_text(failures);
}

TEST(EmulatedRows, EveryElementSizeTakesEveryAlignment) {
  const std::vector<unsigned> sizes = {1, 2, 4, 8, 16};
  const auto failures = testing::run_batch(2 * sizes.size(), [&](std::size_t number) {
    PermutationCase item = spread(37, "sm_90");
    item.shape.element_bytes = sizes[number / 2];
    item.shape.row_stride_in = 39;
    item.shape.row_stride_out = 38 + number % 2 * 10;  // 48 of any size are whole vectors
    for (unsigned offset = 0; offset < std::max(16 / item.shape.element_bytes, 1U); ++offset) {
      item.launches.push_back({50, offset, 0});
      item.launches.push_back({50, 0, offset});
      item.launches.push_back({51, offset, offset});
    }
    return testing::check_permutation(item);
  });
  EXPECT_TRUE(failures.empty()) << testing::to_text(failures);
}

}  // namespace
}  // namespace kiln
