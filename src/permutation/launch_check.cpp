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

}  // namespace

void check_launch(const void* y, const void* x, std::uint64_t rows, const RowBytes& bytes) {
  if (rows == 0) {
    return;
  }
  auto to = reinterpret_cast<std::uintptr_t>(y);
  auto from = reinterpret_cast<std::uintptr_t>(x);
  check_pointer("y", to, bytes.element);
  check_pointer("x", from, bytes.element);
  std::uint64_t longest = std::max(bytes.out, bytes.in);
  if (rows > k_most_rows || rows > k_most_bytes / longest) {
    refuse("rows is " + std::to_string(rows) + ": with rows of " + std::to_string(longest) + " bytes at most " +
           std::to_string(std::min(k_most_rows, k_most_bytes / longest)) + " can be moved");
  }
  if (to < from + rows * bytes.in && from < to + rows * bytes.out) {
    refuse("x and y overlap: y must be a buffer of its own");
  }
}

}  // namespace kiln::permutation
