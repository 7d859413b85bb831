#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kiln/index_map.hpp"
#include "kiln/permuter.hpp"

namespace kiln::cli {

/// Random input of a permutation, room for its output, and what the output must be: y[o, j, i] = x[o, map[j], i],
/// straight from the definition.
class PermuteCheck {
 public:
  /// Throws UsageError when `rows` rows are too many to hold in memory.
  static void require_room(const IndexMap& map, const PermuteShape& shape, std::uint64_t rows);
  /// Throws as `require_room` does.
  PermuteCheck(const IndexMap& map, const PermuteShape& shape, std::uint64_t rows);

  /// As many rows as make a good test in a moment: 1024, fewer for large maps, at least one.
  static std::uint64_t default_rows(const IndexMap& map, const PermuteShape& shape) noexcept;

  std::uint64_t rows() const noexcept { return rows_; }
  /// Elements of the output.
  std::uint64_t elements() const noexcept { return rows_ * row_elements_; }
  const std::vector<std::byte>& x() const noexcept { return x_; }
  std::size_t y_bytes() const noexcept { return expected_.size(); }
  /// Room for y and some bytes behind it, none of them what the result would be.
  std::vector<std::byte> make_y() const;
  /// Throws std::runtime_error naming the first wrong element, or that something was written behind the last.
  void verify(const std::vector<std::byte>& y) const;

 private:
  std::uint64_t rows_;
  std::uint64_t row_elements_;
  unsigned element_bytes_;
  std::vector<std::byte> x_;
  std::vector<std::byte> expected_;
};

}  // namespace kiln::cli
