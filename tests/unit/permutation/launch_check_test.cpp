#include "permutation/launch_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/error.hpp"

namespace kiln::permutation {
namespace {

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

std::string refusal(std::uintptr_t y, std::uintptr_t x, std::uint64_t rows, const RowBytes& bytes) {
  try {
    check_launch(at(y), at(x), rows, bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "nothing was thrown";
}

constexpr RowBytes k_row{144, 144, 4};

TEST(LaunchCheck, TakesWhatCanBeLaunched) {
  EXPECT_EQ(refusal(0x10000, 0x20000, 10, k_row), "nothing was thrown");
  EXPECT_EQ(refusal(0x10004, 0x2000c, 10, k_row), "nothing was thrown");
}

TEST(LaunchCheck, AsksNothingOfZeroRows) { EXPECT_EQ(refusal(0, 1, 0, k_row), "nothing was thrown"); }

TEST(LaunchCheck, NamesANullPointer) {
  EXPECT_EQ(refusal(0, 0x20000, 10, k_row), "y is null: it must be a device pointer");
  EXPECT_EQ(refusal(0x10000, 0, 10, k_row), "x is null: it must be a device pointer");
}

TEST(LaunchCheck, NamesAMisalignedPointer) {
  EXPECT_EQ(refusal(0x10002, 0x20000, 10, k_row), "y is 2 bytes off: it must be aligned to the elements of 4 bytes");
  EXPECT_EQ(refusal(0x10000, 0x20008, 10, {144, 144, 16}),
            "x is 8 bytes off: it must be aligned to the elements of 16 bytes");
}

TEST(LaunchCheck, RefusesMoreRowsThanThereCanBe) {
  constexpr std::uint64_t k_most = std::uint64_t{1} << 40;
  EXPECT_EQ(refusal(1, std::uintptr_t{1} << 50, k_most, {1, 1, 1}), "nothing was thrown");
  EXPECT_THAT(refusal(1, std::uintptr_t{1} << 50, k_most + 1, {1, 1, 1}), testing::HasSubstr("at most 1099511627776"));
  EXPECT_THAT(refusal(16, 32, k_most, {1 << 24, 1, 1}), testing::HasSubstr("at most 68719476736"));
}

TEST(LaunchCheck, RefusesBuffersThatOverlap) {
  constexpr const char* k_overlap = "x and y overlap: y must be a buffer of its own";
  EXPECT_THAT(refusal(0x10000, 0x10000, 1, k_row), testing::StartsWith(k_overlap));
  EXPECT_EQ(refusal(0x10000, 0x10000 + 143, 1, {144, 144, 1}), k_overlap);
  EXPECT_EQ(refusal(0x10000 + 143, 0x10000, 1, {144, 144, 1}), k_overlap);
  EXPECT_EQ(refusal(0x10000, 0x10000 + 144, 1, {144, 1000, 1}), "nothing was thrown");
  EXPECT_EQ(refusal(0x10000 + 144, 0x10000, 1, {1000, 144, 1}), "nothing was thrown");
}

RowBytes pitched(std::uint64_t out, std::uint64_t in, std::uint64_t stride_out, std::uint64_t stride_in) {
  RowBytes bytes{out, in, 1};
  bytes.stride_out = stride_out;
  bytes.stride_in = stride_in;
  return bytes;
}

TEST(LaunchCheck, CountsNothingBehindTheLastRow) {
  const RowBytes bytes = pitched(10, 20, 100, 200);
  EXPECT_EQ(refusal(0x10000 + 220, 0x10000, 2, bytes), "nothing was thrown");
  EXPECT_THAT(refusal(0x10000 + 219, 0x10000, 2, bytes), testing::StartsWith("x and y overlap"));
  EXPECT_EQ(refusal(0x10000, 0x10000 + 110, 2, bytes), "nothing was thrown");
  EXPECT_THAT(refusal(0x10000, 0x10000 + 109, 2, bytes), testing::StartsWith("x and y overlap"));
}

TEST(LaunchCheck, TakesRowsBetweenRowsOfTheSameStride) {
  const RowBytes bytes = pitched(10, 20, 100, 100);
  EXPECT_EQ(refusal(0x10000 + 20, 0x10000, 5, bytes), "nothing was thrown");
  EXPECT_EQ(refusal(0x10000 + 290, 0x10000, 5, bytes), "nothing was thrown");
  EXPECT_EQ(refusal(0x10000, 0x10000 + 10, 5, bytes), "nothing was thrown");
  EXPECT_EQ(refusal(0x10000, 0x10000 + 80, 5, bytes), "nothing was thrown");
  EXPECT_THAT(refusal(0x10000 + 19, 0x10000, 5, bytes), testing::StartsWith("x and y overlap"));
  EXPECT_THAT(refusal(0x10000 + 91, 0x10000, 5, bytes), testing::StartsWith("x and y overlap"));
  EXPECT_THAT(refusal(0x10000, 0x10000 + 9, 5, bytes), testing::StartsWith("x and y overlap"));
  EXPECT_THAT(refusal(0x10000, 0x10000 + 81, 5, bytes), testing::StartsWith("x and y overlap"));
  EXPECT_THAT(refusal(0x10000 + 20, 0x10000, 5, pitched(10, 20, 101, 100)), testing::StartsWith("x and y overlap"));
}

TEST(LaunchCheck, InPlaceYMustBeX) {
  RowBytes bytes = k_row;
  bytes.in_place = true;
  EXPECT_EQ(refusal(0x10000, 0x10000, 5, bytes), "nothing was thrown");
  EXPECT_EQ(refusal(0x10000, 0x20000, 5, bytes), "x and y differ: this permutation is in place, y must be x");
  EXPECT_EQ(refusal(0x10000, 0x10004, 5, bytes), "x and y differ: this permutation is in place, y must be x");
}

TEST(LaunchCheck, CountsPitchedRowsBytes) {
  EXPECT_THAT(refusal(16, 32, std::uint64_t{1} << 40, pitched(1, 1, 1, 1 << 24)),
              testing::HasSubstr("with rows of 16777216 bytes at most 68719476736"));
}

}  // namespace
}  // namespace kiln::permutation
