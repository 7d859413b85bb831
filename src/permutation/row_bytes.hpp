#pragma once

#include <cstdint>

#include "kiln/index_map.hpp"
#include "kiln/permuter.hpp"

namespace kiln::permutation {

/// What a launch needs to know of its rows, in bytes.
struct RowBytes {
  std::uint64_t out = 0;           ///< of y
  std::uint64_t in = 0;            ///< of x
  unsigned element = 0;            ///< what x is aligned to
  std::uint64_t stride_out = out;  ///< from the start of a row of y to that of the next
  std::uint64_t stride_in = in;
  unsigned element_out = element;  ///< what y is aligned to
  bool in_place = false;           ///< y is x

  /// Does a row start where the one before ends, on both sides?
  bool dense() const noexcept { return stride_out == out && stride_in == in; }
  /// From the first byte of the first row of y to behind the last byte of the last; `rows` is not 0.
  std::uint64_t extent_out(std::uint64_t rows) const noexcept { return (rows - 1) * stride_out + out; }
  std::uint64_t extent_in(std::uint64_t rows) const noexcept { return (rows - 1) * stride_in + in; }
};

/// The rows of a map and a shape. Pure. Throws Error{invalid_argument} naming the field of `shape` that cannot be used:
/// an element size that there is not, rows longer than any, a stride shorter than a row, rows that cannot be permuted
/// in place.
RowBytes row_bytes(const IndexMap& map, const PermuteShape& shape);

}  // namespace kiln::permutation
