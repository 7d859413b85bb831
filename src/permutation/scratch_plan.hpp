#pragma once

#include <cstdint>

#include "kiln/permuter.hpp"
#include "permutation/launch_check.hpp"

namespace kiln::permutation {

/// How rows are moved that need scratch memory on their way: how much, and by which launches. Pure.
struct ScratchPlan {
  std::uint64_t bundle_bytes = 0;  ///< scratch memory of a bundle; 0: none is needed
  std::uint64_t bundle_rows = 1;   ///< that move together; the last bundle may have fewer
  unsigned groups = 0;             ///< of blocks, that the device runs at once to relay rows; 0: it cannot
  unsigned ring = 0;               ///< bundles in scratch memory for each group

  /// Are `rows` rows enough for a relay with `bytes` bytes of scratch memory, and these for it?
  bool relays(std::uint64_t rows, std::uint64_t bytes) const noexcept;
  /// At the front of a relay's scratch memory: 0 at first; whole vectors.
  std::uint64_t counter_bytes() const noexcept;
  /// What `rows` rows are moved with at full speed: what a relay needs, or what holds as many rows as keep the device
  /// busy.
  std::uint64_t bytes(std::uint64_t rows) const noexcept;
  /// Of scratch memory of `bytes` bytes, what moving `rows` rows writes to.
  std::uint64_t bytes_used(std::uint64_t rows, std::uint64_t bytes) const noexcept;
  /// Rows that go through scratch memory of `bytes` bytes at a time, of `rows` in all: equal parts, nearly, of whole
  /// bundles; the last part may have fewer.
  std::uint64_t rows_at_once(std::uint64_t rows, std::uint64_t bytes) const noexcept;

 private:
  std::uint64_t bundles(std::uint64_t rows) const noexcept;
  std::uint64_t relay_bytes() const noexcept;
};

/// May `scratch` be used to move `rows` rows from x to y? Throws Error{invalid_argument} naming what is wrong: null,
/// not aligned to 16 bytes, too few bytes for a bundle, or that what is used of it overlaps x or y. To be called after
/// check_launch; rows is not 0.
void check_scratch(const PermuteScratch& scratch, const ScratchPlan& plan, const void* y, const void* x,
                   std::uint64_t rows, const RowBytes& bytes);

}  // namespace kiln::permutation
