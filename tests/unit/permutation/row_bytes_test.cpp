#include "permutation/row_bytes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/error.hpp"

namespace kiln::permutation {
namespace {

IndexMap map_of(const std::vector<std::int64_t>& sources, std::uint64_t source_size) { return {sources, source_size}; }

std::string refusal(const IndexMap& map, const PermuteShape& shape) {
  try {
    row_bytes(map, shape);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(RowBytes, DenseRowsFollowEachOther) {
  const RowBytes bytes = row_bytes(map_of({1, 2, 0, 1}, 3), {.element_bytes = 2, .inner = 5});
  EXPECT_EQ(bytes.out, 40U);
  EXPECT_EQ(bytes.in, 30U);
  EXPECT_EQ(bytes.stride_out, 40U);
  EXPECT_EQ(bytes.stride_in, 30U);
  EXPECT_EQ(bytes.element, 2U);
  EXPECT_EQ(bytes.element_out, 2U);
  EXPECT_TRUE(bytes.dense());
  EXPECT_EQ(bytes.extent_out(3), 120U);
}

TEST(RowBytes, StridesCountElements) {
  const RowBytes bytes =
      row_bytes(map_of({1, 2, 0, 1}, 3), {.element_bytes = 4, .row_stride_in = 3, .row_stride_out = 6});
  EXPECT_EQ(bytes.stride_in, 12U);
  EXPECT_EQ(bytes.stride_out, 24U);
  EXPECT_FALSE(bytes.dense());
  EXPECT_EQ(bytes.extent_out(3), 64U);  // nothing behind the last row
  EXPECT_EQ(bytes.extent_in(3), 36U);
}

TEST(RowBytes, RefusesAStrideShorterThanARow) {
  EXPECT_EQ(refusal(map_of({1, 2, 0, 1}, 3), {.inner = 2, .row_stride_in = 5}),
            "row_stride_in is 5: a row has 6 elements, so it must be at least that, or 0 for dense rows");
  EXPECT_EQ(refusal(map_of({1, 2, 0, 1}, 3), {.inner = 2, .row_stride_out = 7}),
            "row_stride_out is 7: a row has 8 elements, so it must be at least that, or 0 for dense rows");
}

TEST(RowBytes, RefusesAStrideLongerThanAnyRow) {
  EXPECT_THAT(refusal(map_of({0}, 1), {.element_bytes = 8, .row_stride_in = (std::uint64_t{1} << 45) + 1}),
              testing::HasSubstr("with elements of 8 bytes it must be at most 35184372088832"));
  EXPECT_EQ(refusal(map_of({0}, 1), {.element_bytes = 8, .row_stride_in = std::uint64_t{1} << 45}),
            "nothing was thrown");
}

TEST(RowBytes, RefusesAShapeNamingTheField) {
  EXPECT_THAT(refusal(map_of({0}, 1), {.element_bytes = 3}), testing::StartsWith("element_bytes is 3"));
  EXPECT_THAT(refusal(map_of({0}, 1), {.inner = 0}), testing::StartsWith("inner is 0"));
}

TEST(RowBytes, InPlaceTakesPermutationsWithOneStride) {
  EXPECT_TRUE(row_bytes(map_of({1, 2, 0}, 3), {.in_place = true}).in_place);
  EXPECT_EQ(refusal(map_of({1, 2, 0}, 3), {.row_stride_in = 3, .in_place = true}), "nothing was thrown");
  EXPECT_EQ(refusal(map_of({1, 2, 0}, 3), {.row_stride_in = 4, .in_place = true}),
            "row_stride_in and row_stride_out are 4 and 3: in place they must be the same");
  constexpr const char* k_no_permutation = "is no permutation: only one that takes each source once";
  EXPECT_THAT(refusal(map_of({1, 1, 0}, 3), {.in_place = true}), testing::HasSubstr(k_no_permutation));
  EXPECT_THAT(refusal(map_of({1, 0}, 3), {.in_place = true}), testing::HasSubstr(k_no_permutation));
}

}  // namespace
}  // namespace kiln::permutation
