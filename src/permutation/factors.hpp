#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "permutation/analysis.hpp"

namespace kiln::permutation {

/// A digit of a position in mixed radix: it counts from 0 to radix - 1, and each step of it moves the source by
/// `stride` units.
struct Digit {
  std::uint64_t radix = 0;
  std::int64_t stride = 0;
  friend bool operator==(const Digit&, const Digit&) = default;
};

/// A map that is an axis swap of a factored position. Unit j of an output row, whose digits are those of j from the
/// fastest to the slowest, comes from unit (base + the sum of digit * stride) of the input row, less row_in_units where
/// that lies behind it. Transposes, reversals, rotations, interleaving, every n-th, bit reversal are such maps.
struct Factors {
  std::uint64_t base = 0;
  std::vector<Digit> digits;
  bool wraps = false;  ///< a rotation: one digit, with stride 1, and sources that begin again
  friend bool operator==(const Factors&, const Factors&) = default;
};

/// The factors of a row's units, as few as there are; nothing for a map that has none. Pure, O(M), ends early for most
/// maps that have none.
std::optional<Factors> factor(const BlockMap& blocks);

}  // namespace kiln::permutation
