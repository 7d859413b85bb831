#include "permutation/row_bytes.hpp"

#include <string>

#include "kiln/error.hpp"
#include "permutation/analysis.hpp"
#include "permutation/ending.hpp"

namespace kiln::permutation {

namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

/// Bytes from row to row; `stride` and `row` count elements of `element_bytes`.
std::uint64_t stride_bytes(const char* field, std::uint64_t stride, std::uint64_t row, unsigned element_bytes) {
  if (stride == 0) {
    return row * element_bytes;
  }
  if (stride < row) {
    refuse(std::string(field) + " is " + std::to_string(stride) + ": a row has " + std::to_string(row) +
           " elements, so it must be at least that, or 0 for dense rows");
  }
  if (stride > k_most_row_bytes / element_bytes) {
    refuse(std::string(field) + " is " + std::to_string(stride) + ": with elements of " +
           std::to_string(element_bytes) + " bytes it must be at most " +
           std::to_string(k_most_row_bytes / element_bytes));
  }
  return stride * element_bytes;
}

void check_in_place(const IndexMap& map, const RowBytes& bytes) {
  if (!map.is_permutation()) {
    refuse("in_place is true, and the map of " + std::to_string(map.size()) + " positions out of " +
           std::to_string(map.source_size()) +
           " is no permutation: only one that takes each source once can be done in place");
  }
  if (bytes.element != bytes.element_out) {
    refuse("in_place is true, and the ending makes elements of " + std::to_string(bytes.element_out) +
           " bytes of ones of " + std::to_string(bytes.element) + ": in place they must be of the same size");
  }
  if (bytes.stride_in != bytes.stride_out) {
    refuse("row_stride_in and row_stride_out are " + std::to_string(bytes.stride_in / bytes.element) + " and " +
           std::to_string(bytes.stride_out / bytes.element) + ": in place they must be the same");
  }
}

}  // namespace

RowBytes row_bytes(const IndexMap& map, const PermuteShape& shape) {
  check_shape(map, shape);
  RowBytes bytes;
  const std::uint64_t row_out = map.size() * shape.inner;
  const std::uint64_t row_in = map.source_size() * shape.inner;
  bytes.element = shape.element_bytes;
  bytes.element_out = shape.ending ? ending_bytes(*shape.ending, shape.element_bytes, row_out) : shape.element_bytes;
  bytes.out = row_out * bytes.element_out;
  bytes.in = row_in * bytes.element;
  bytes.stride_out = stride_bytes("row_stride_out", shape.row_stride_out, row_out, bytes.element_out);
  bytes.stride_in = stride_bytes("row_stride_in", shape.row_stride_in, row_in, bytes.element);
  bytes.in_place = shape.in_place;
  if (shape.in_place) {
    check_in_place(map, bytes);
  }
  return bytes;
}

}  // namespace kiln::permutation
