#include "permutation/scratch_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/error.hpp"

namespace kiln::permutation {
namespace {

constexpr std::uint64_t k_mib = 1 << 20;

TEST(ScratchPlan, NothingIsNeededWithoutRowBytes) { EXPECT_EQ(ScratchPlan{}.bytes(1000), 0U); }

TEST(ScratchPlan, StepsTakeAsManyRowsAsKeepTheDeviceBusy) {
  const ScratchPlan plan{.bundle_bytes = 16 * k_mib};
  EXPECT_FALSE(plan.relays(1000, 1000 * k_mib));
  EXPECT_EQ(plan.bytes(1), 16 * k_mib);
  EXPECT_EQ(plan.bytes(20), 320 * k_mib);
  EXPECT_EQ(plan.bytes(1000), 512 * k_mib);
  EXPECT_EQ((ScratchPlan{.bundle_bytes = 600 * k_mib}.bytes(3)), 600 * k_mib);
}

TEST(ScratchPlan, RowsAreSharedOutEvenly) {
  const ScratchPlan plan{.bundle_bytes = 1000};
  EXPECT_EQ(plan.rows_at_once(7, 4000), 4U);
  EXPECT_EQ(plan.rows_at_once(9, 4999), 3U);
  EXPECT_EQ(plan.rows_at_once(9, 1000), 1U);
  EXPECT_EQ(plan.rows_at_once(9, 100'000), 9U);
}

TEST(ScratchPlan, ARelayNeedsItsRingsAndCountersWhateverTheRows) {
  const ScratchPlan plan{.bundle_bytes = k_mib, .groups = 3, .ring = 2};
  EXPECT_EQ(plan.counter_bytes(), 48U);
  EXPECT_EQ(plan.bytes(12), 6 * k_mib + 48);
  EXPECT_EQ(plan.bytes(1'000'000), 6 * k_mib + 48);
  EXPECT_TRUE(plan.relays(12, 6 * k_mib + 48));
}

TEST(ScratchPlan, StepsServeWhereARelayCannot) {
  const ScratchPlan plan{.bundle_bytes = k_mib, .groups = 3, .ring = 2};
  EXPECT_FALSE(plan.relays(11, 100 * k_mib));     // too few rows
  EXPECT_FALSE(plan.relays(12, 6 * k_mib + 47));  // too little memory
  EXPECT_EQ(plan.bytes(11), 11 * k_mib);
}

TEST(ScratchPlan, UsesWhatItsLaunchesWrite) {
  const ScratchPlan plan{.bundle_bytes = 1000, .groups = 3, .ring = 2};
  EXPECT_EQ(plan.bytes_used(12, 100'000), 6048U);
  EXPECT_EQ(plan.bytes_used(11, 100'000), 11'000U);
  EXPECT_EQ(plan.bytes_used(11, 3999), 3000U);
}

TEST(ScratchPlan, RowsThatMoveTogetherShareTheirs) {
  const ScratchPlan plan{.bundle_bytes = 1000, .bundle_rows = 4};
  EXPECT_EQ(plan.bytes(0), 0U);
  EXPECT_EQ(plan.bytes(1), 1000U);
  EXPECT_EQ(plan.bytes(4), 1000U);
  EXPECT_EQ(plan.bytes(5), 2000U);
  // Whole bundles at a time, whatever memory there is.
  EXPECT_EQ(plan.rows_at_once(3, 1000), 4U);
  EXPECT_EQ(plan.rows_at_once(9, 1999), 4U);
  EXPECT_EQ(plan.rows_at_once(9, 2000), 8U);
  EXPECT_EQ(plan.rows_at_once(17, 4000), 12U);  // five bundles, as three and two
  EXPECT_EQ(plan.rows_at_once(17, 100'000), 20U);
  EXPECT_EQ(plan.bytes_used(17, 4000), 3000U);
  EXPECT_EQ(plan.bytes_used(17, 100'000), 5000U);
}

TEST(ScratchPlan, ARelayCountsBundles) {
  const ScratchPlan plan{.bundle_bytes = k_mib, .bundle_rows = 4, .groups = 3, .ring = 2};
  EXPECT_FALSE(plan.relays(44, 100 * k_mib));
  EXPECT_TRUE(plan.relays(45, 100 * k_mib));  // the twelfth bundle has one row
  EXPECT_EQ(plan.bytes(45), 6 * k_mib + 48);
  EXPECT_EQ(plan.bytes(44), 11 * k_mib);
}

/// Of scratch memory for 10 rows of 1000 bytes each, x at 100,000 and y at 200,000.
std::string refusal(std::uintptr_t address, std::uint64_t bytes) {
  try {
    check_scratch({reinterpret_cast<void*>(address), bytes}, ScratchPlan{.bundle_bytes = 1000},
                  reinterpret_cast<void*>(200'000), reinterpret_cast<const void*>(100'000), 10, {1000, 1000, 4});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "";
}

TEST(CheckScratch, NamesWhatIsWrong) {
  EXPECT_EQ(refusal(32, 1000), "");
  EXPECT_THAT(refusal(0, 1000), testing::HasSubstr("scratch is null"));
  EXPECT_THAT(refusal(40, 1000), testing::HasSubstr("8 bytes off"));
  EXPECT_THAT(refusal(32, 999),
              testing::HasSubstr("scratch has 999 bytes: one row, and those that move with it, need 1000"));
}

TEST(CheckScratch, WhatIsUsedIsApartFromXAndY) {
  EXPECT_EQ(refusal(90'000, 10'000), "");
  EXPECT_EQ(refusal(110'000, 10'000), "");
  EXPECT_EQ(refusal(110'000, ~std::uint64_t{0}), "");
  EXPECT_THAT(refusal(90'016, 10'000), testing::HasSubstr("scratch and x overlap"));
  EXPECT_THAT(refusal(109'984, 1000), testing::HasSubstr("scratch and x overlap"));
  EXPECT_THAT(refusal(199'008, 1000), testing::HasSubstr("scratch and y overlap"));
  EXPECT_THAT(refusal(200'000, 10'000), testing::HasSubstr("scratch and y overlap"));
}

}  // namespace
}  // namespace kiln::permutation
