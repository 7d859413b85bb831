#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kiln/index_map.hpp"
#include "kiln/permuter.hpp"

namespace kiln::cli {

/// Random input of a permutation, room for its output, and what the output must be: y[o, j, i] = x[o, map[j], i],
/// straight from the definition. What an ending makes of elements is not known here: they are given to a kernel of
/// another kind that only does that, and what comes of it is taken as expected.
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
  /// Up to its last row's end.
  const std::vector<std::byte>& x() const noexcept { return x_; }
  std::size_t y_bytes() const noexcept { return expected_.size(); }
  /// Is what make_y gives x as well?
  bool in_place() const noexcept { return in_place_; }
  /// Are elements changed on their way? Then `take_changed` comes first.
  bool has_ending() const noexcept { return shape_.ending.has_value(); }
  /// Of the kernel that changes elements and leaves them where they are.
  const IndexMap& ending_map() const noexcept { return identity_; }
  const PermuteShape& ending_shape() const noexcept { return shape_; }
  /// The elements of y before they are changed, row by row.
  const std::vector<std::byte>& moved() const noexcept { return moved_; }
  std::size_t changed_bytes() const noexcept { return rows_ * row_elements_ * element_bytes_; }
  /// The same, changed, is what is expected.
  void take_changed(const std::vector<std::byte>& changed);
  /// Room for y and some bytes behind it, none of its elements what they are to be; in place, x.
  std::vector<std::byte> make_y() const;
  /// Throws std::runtime_error naming the first wrong element, or where something was written between rows or behind
  /// the last.
  void verify(const std::vector<std::byte>& y) const;

 private:
  std::uint64_t rows_;
  std::uint64_t row_elements_;
  std::uint64_t row_stride_;  // elements of y, from row to row
  unsigned element_bytes_;    // of y
  IndexMap identity_;         // and these are of the kernel that only changes elements
  PermuteShape shape_;
  bool in_place_;
  std::vector<std::byte> x_;
  std::vector<std::byte> moved_;
  std::vector<std::byte> expected_;  // up to the end of the last row, with what stands between rows
};

}  // namespace kiln::cli
