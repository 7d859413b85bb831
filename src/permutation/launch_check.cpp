#include "permutation/launch_check.hpp"

#include <algorithm>
#include <string>

#include "kiln/error.hpp"

namespace kiln::permutation {

namespace {

constexpr std::uint64_t k_most_rows = std::uint64_t{1} << 40;
constexpr std::uint64_t k_most_bytes = std::uint64_t{1} << 60;

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

void check_pointer(const char* name, std::uint64_t address, unsigned element_bytes) {
  if (address == 0) {
    refuse(std::string(name) + " is null: it must be a device pointer");
  }
  if (address % element_bytes != 0) {
    refuse(std::string(name) + " is " + std::to_string(address % element_bytes) + " bytes off: it must be aligned to " +
           "the elements of " + std::to_string(element_bytes) + " bytes");
  }
}

/// Do rows of y and of x lie between each other and never meet? Only where they follow at the same distance.
bool interleaved(std::uint64_t to, std::uint64_t from, const RowBytes& bytes) {
  if (bytes.stride_out != bytes.stride_in) {
    return false;
  }
  const std::uint64_t stride = bytes.stride_in;
  // How far a row of y starts behind the row of x that is next before it.
  const std::uint64_t behind = to >= from ? (to - from) % stride : (stride - (from - to) % stride) % stride;
  return behind >= bytes.in && behind + bytes.out <= stride;
}

}  // namespace

void check_launch(const void* y, const void* x, std::uint64_t rows, const RowBytes& bytes) {
  if (rows == 0) {
    return;
  }
  auto to = reinterpret_cast<std::uintptr_t>(y);
  auto from = reinterpret_cast<std::uintptr_t>(x);
  check_pointer("y", to, bytes.element_out);
  check_pointer("x", from, bytes.element);
  std::uint64_t longest = std::max(bytes.stride_out, bytes.stride_in);
  if (rows > k_most_rows || rows > k_most_bytes / longest) {
    refuse("rows is " + std::to_string(rows) + ": with rows of " + std::to_string(longest) + " bytes at most " +
           std::to_string(std::min(k_most_rows, k_most_bytes / longest)) + " can be moved");
  }
  if (bytes.in_place) {
    if (to != from) {
      refuse("x and y differ: this permutation is in place, y must be x");
    }
    return;
  }
  bool overlap = to < from + bytes.extent_in(rows) && from < to + bytes.extent_out(rows);
  if (overlap && !interleaved(to, from, bytes)) {
    refuse(to == from ? "x and y overlap: y must be a buffer of its own, or the permutation be made in place"
                      : "x and y overlap: y must be a buffer of its own");
  }
}

}  // namespace kiln::permutation
