#include "cli/permute_check.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "cli/exit_code.hpp"
#include "cli/human.hpp"

namespace kiln::cli {

namespace {

constexpr std::uint64_t k_default_rows = 1024;
constexpr std::uint64_t k_default_elements = 1U << 20;
constexpr std::uint64_t k_most_bytes = std::uint64_t{1} << 32;
constexpr std::size_t k_guard_bytes = 64;

/// splitmix64: repeatable, and no two neighbouring elements alike.
std::vector<std::byte> random_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  std::uint64_t state = 0;
  for (std::size_t at = 0; at < count; at += sizeof(state)) {
    state += 0x9E3779B97F4A7C15U;
    std::uint64_t word = state;
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
    word ^= word >> 31;
    std::memcpy(bytes.data() + at, &word, std::min(sizeof(word), count - at));
  }
  return bytes;
}

/// rows * positions * inner * element_bytes, in floating point so as not to overflow.
double tensor_bytes(std::uint64_t positions, const PermuteShape& shape, std::uint64_t rows) {
  return static_cast<double>(rows) * static_cast<double>(positions) * static_cast<double>(shape.inner) *
         shape.element_bytes;
}

}  // namespace

std::uint64_t PermuteCheck::default_rows(const IndexMap& map, const PermuteShape& shape) noexcept {
  std::uint64_t positions = std::max(map.size(), map.source_size());
  std::uint64_t inner = std::min(shape.inner, k_default_elements);
  return std::clamp<std::uint64_t>(k_default_elements / (positions * inner), 1, k_default_rows);
}

void PermuteCheck::require_room(const IndexMap& map, const PermuteShape& shape, std::uint64_t rows) {
  double needed = tensor_bytes(map.source_size(), shape, rows) + 2 * tensor_bytes(map.size(), shape, rows);
  if (needed > static_cast<double>(k_most_bytes)) {
    bool one_row = rows <= 1;
    throw UsageError("verifying " + (one_row ? "one row" : std::to_string(rows) + " rows") + " takes more than " +
                     human_bytes(k_most_bytes) + " of memory: give " +
                     (one_row ? "a smaller --inner or --source-size, or a shorter map" : "fewer --rows"));
  }
}

PermuteCheck::PermuteCheck(const IndexMap& map, const PermuteShape& shape, std::uint64_t rows)
    : rows_(rows), row_elements_(map.size() * shape.inner), element_bytes_(shape.element_bytes) {
  require_room(map, shape, rows);
  std::size_t unit = shape.inner * shape.element_bytes;
  x_ = random_bytes(rows * map.source_size() * unit);
  expected_.resize(rows * map.size() * unit);
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint64_t j = 0; j < map.size(); ++j) {
      std::memcpy(expected_.data() + (row * map.size() + j) * unit,
                  x_.data() + (row * map.source_size() + map[j]) * unit, unit);
    }
  }
}

std::vector<std::byte> PermuteCheck::make_y() const {
  std::vector<std::byte> y(expected_.size() + k_guard_bytes);
  // Every byte differs from what it must become.
  std::ranges::transform(expected_, y.begin(), [](std::byte expected) { return ~expected; });
  return y;
}

void PermuteCheck::verify(const std::vector<std::byte>& y) const {
  auto [found, wanted] =
      std::mismatch(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(expected_.size()), expected_.begin());
  if (wanted != expected_.end()) {
    auto element = static_cast<std::uint64_t>(wanted - expected_.begin()) / element_bytes_;
    throw std::runtime_error("the kernel's result is wrong: the first wrong element is number " +
                             std::to_string(element % row_elements_) + " of row " +
                             std::to_string(element / row_elements_));
  }
  auto behind = y.begin() + static_cast<std::ptrdiff_t>(expected_.size());
  if (std::any_of(behind, y.end(), [](std::byte byte) { return byte != std::byte{0}; })) {
    throw std::runtime_error("the kernel wrote behind the last element");
  }
}

}  // namespace kiln::cli
