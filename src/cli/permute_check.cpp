#include "cli/permute_check.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>

#include "cli/exit_code.hpp"
#include "cli/human.hpp"
#include "kiln/dtype.hpp"

namespace kiln::cli {

namespace {

constexpr std::uint64_t k_default_rows = 1024;
constexpr std::uint64_t k_default_elements = 1U << 20;
constexpr std::uint64_t k_most_bytes = std::uint64_t{1} << 32;
constexpr std::size_t k_guard_bytes = 64;
constexpr std::byte k_between_rows{0x5A};

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

/// Elements from row to row.
std::uint64_t stride_of(std::uint64_t given, std::uint64_t positions, const PermuteShape& shape) {
  return given == 0 ? positions * shape.inner : given;
}

/// Of rows of `row` elements that are `stride` apart, in floating point so as not to overflow.
double tensor_bytes(std::uint64_t stride, std::uint64_t row, unsigned element_bytes, std::uint64_t rows) {
  const double before_last = static_cast<double>(std::max<std::uint64_t>(rows, 1) - 1) * static_cast<double>(stride);
  return (before_last + static_cast<double>(row)) * element_bytes;
}

unsigned output_bytes(const PermuteShape& shape) {
  return shape.ending ? dtype_bytes(shape.ending->to) : shape.element_bytes;
}

IndexMap identity(std::uint64_t size) {
  std::vector<std::uint32_t> sources(size);
  std::iota(sources.begin(), sources.end(), 0U);
  return {std::span<const std::uint32_t>(sources), size};
}

/// From the first element of the first row to behind the last of the last.
std::uint64_t extent_of(std::uint64_t rows, std::uint64_t stride, std::uint64_t row) {
  return rows == 0 ? 0 : (rows - 1) * stride + row;
}

}  // namespace

std::uint64_t PermuteCheck::default_rows(const IndexMap& map, const PermuteShape& shape) noexcept {
  std::uint64_t longest = std::max(stride_of(shape.row_stride_out, map.size(), shape),
                                   stride_of(shape.row_stride_in, map.source_size(), shape));
  return std::clamp<std::uint64_t>(k_default_elements / longest, 1, k_default_rows);
}

void PermuteCheck::require_room(const IndexMap& map, const PermuteShape& shape, std::uint64_t rows) {
  const std::uint64_t row_in = map.source_size() * shape.inner;
  const std::uint64_t row_out = map.size() * shape.inner;
  const std::uint64_t stride_in = stride_of(shape.row_stride_in, map.source_size(), shape);
  const std::uint64_t stride_out = stride_of(shape.row_stride_out, map.size(), shape);
  const double needed =
      tensor_bytes(stride_in, row_in, shape.element_bytes, rows) +
      2 * tensor_bytes(stride_out, row_out, output_bytes(shape), rows) +
      (shape.ending ? tensor_bytes(row_out, row_out, shape.element_bytes + output_bytes(shape), rows) : 0);
  if (needed > static_cast<double>(k_most_bytes)) {
    const bool one_row = rows <= 1;
    const bool pitched = stride_in != row_in || stride_out != row_out;
    throw UsageError("verifying " + (one_row ? "one row" : std::to_string(rows) + " rows") + " takes more than " +
                     human_bytes(k_most_bytes) + " of memory: give " +
                     (one_row   ? "a smaller --inner or --source-size, or a shorter map"
                      : pitched ? "fewer --rows, or a smaller --row-stride-in and --row-stride-out"
                                : "fewer --rows"));
  }
}

PermuteCheck::PermuteCheck(const IndexMap& map, const PermuteShape& shape, std::uint64_t rows)
    : rows_(rows),
      row_elements_(map.size() * shape.inner),
      row_stride_(stride_of(shape.row_stride_out, map.size(), shape)),
      element_bytes_(output_bytes(shape)),
      identity_(identity(shape.ending ? map.size() : 1)),
      in_place_(shape.in_place) {
  require_room(map, shape, rows);
  std::uint64_t stride_in = stride_of(shape.row_stride_in, map.source_size(), shape);
  std::size_t unit = shape.inner * shape.element_bytes;
  x_ = random_bytes(extent_of(rows, stride_in, map.source_size() * shape.inner) * shape.element_bytes);
  expected_.resize(extent_of(rows, row_stride_, row_elements_) * element_bytes_, k_between_rows);
  if (in_place_) {
    expected_ = x_;
  }
  if (shape.ending) {
    shape_ = {.element_bytes = shape.element_bytes,
              .inner = shape.inner,
              .strategy = PermuteStrategy::elements,
              .ending = shape.ending};
    moved_.resize(rows * map.size() * unit);
  }
  std::vector<std::byte>& moved = shape.ending ? moved_ : expected_;
  std::size_t stride_out = shape.ending ? map.size() * unit : row_stride_ * element_bytes_;
  for (std::uint64_t row = 0; row < rows; ++row) {
    std::byte* to = moved.data() + row * stride_out;
    const std::byte* from = x_.data() + row * stride_in * shape.element_bytes;
    for (std::uint64_t j = 0; j < map.size(); ++j) {
      std::memcpy(to + j * unit, from + map[j] * unit, unit);
    }
  }
}

void PermuteCheck::take_changed(const std::vector<std::byte>& changed) {
  const std::size_t row_bytes = row_elements_ * element_bytes_;
  for (std::uint64_t row = 0; row < rows_; ++row) {
    std::memcpy(expected_.data() + row * row_stride_ * element_bytes_, changed.data() + row * row_bytes, row_bytes);
  }
}

std::vector<std::byte> PermuteCheck::make_y() const {
  std::vector<std::byte> y = in_place_ ? x_ : expected_;
  y.resize(expected_.size() + k_guard_bytes);
  for (std::uint64_t row = 0; row < rows_ && !in_place_; ++row) {
    auto first = y.begin() + static_cast<std::ptrdiff_t>(row * row_stride_ * element_bytes_);
    // Every byte of a row differs from what it must become.
    std::transform(first, first + static_cast<std::ptrdiff_t>(row_elements_ * element_bytes_), first,
                   [](std::byte expected) { return ~expected; });
  }
  return y;
}

void PermuteCheck::verify(const std::vector<std::byte>& y) const {
  auto [found, wanted] =
      std::mismatch(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(expected_.size()), expected_.begin());
  if (wanted != expected_.end()) {
    auto element = static_cast<std::uint64_t>(wanted - expected_.begin()) / element_bytes_;
    std::string row = std::to_string(element / row_stride_);
    if (element % row_stride_ >= row_elements_) {
      throw std::runtime_error("the kernel wrote between rows, behind row " + row);
    }
    throw std::runtime_error("the kernel's result is wrong: the first wrong element is number " +
                             std::to_string(element % row_stride_) + " of row " + row);
  }
  auto behind = y.begin() + static_cast<std::ptrdiff_t>(expected_.size());
  if (std::any_of(behind, y.end(), [](std::byte byte) { return byte != std::byte{0}; })) {
    throw std::runtime_error("the kernel wrote behind the last element");
  }
}

}  // namespace kiln::cli
