#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "permutation/factors.hpp"

namespace kiln::permutation {

/// A digit of the row's positions, and how far tiles reach along it.
struct Axis {
  Digit digit;
  std::uint64_t output = 0;  ///< units of y that a step goes
  std::uint64_t extent = 1;
  // Its places in a tile and those of the axes that are faster are neighbours in x, in y.
  bool in_source_run = false;
  bool in_output_run = false;

  std::uint64_t source() const noexcept {
    return static_cast<std::uint64_t>(digit.stride < 0 ? -digit.stride : digit.stride);
  }
  bool is_reversed() const noexcept { return digit.stride < 0; }
  bool is_whole() const noexcept { return extent == digit.radix; }
  bool has_edge() const noexcept { return digit.radix % extent != 0; }
};

/// The axes of a map, the fastest in y first; no tile reaches anywhere yet.
std::vector<Axis> axes_of(const Factors& factors);

/// The axes by how far they go in x, what repeats a source last.
std::vector<std::size_t> source_order(const std::vector<Axis>& axes);

/// Of a tile.
std::uint64_t units_of(const std::vector<Axis>& axes);

/// How many neighbours a tile has on either side.
struct Runs {
  std::uint64_t source = 0;  ///< units
  std::uint64_t output = 0;
};

/// Sets how far tiles reach: squares of about 16 KB, longer in y where x and y run along the same axis. Pure.
Runs choose_extents(std::vector<Axis>& axes, unsigned unit_bytes);

}  // namespace kiln::permutation
