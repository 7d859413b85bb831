#pragma once

#include <cstdint>

namespace kiln::permutation {

/// How rows are moved that need scratch memory on their way: how much, and by which launches. Pure.
struct ScratchPlan {
  std::uint64_t row_bytes = 0;  ///< scratch memory of a row; 0: none is needed
  unsigned groups = 0;          ///< of blocks, that the device runs at once to relay rows; 0: it cannot
  unsigned ring = 0;            ///< rows in scratch memory for each group

  /// Are `rows` rows enough for a relay with `bytes` bytes of scratch memory, and these for it?
  bool relays(std::uint64_t rows, std::uint64_t bytes) const noexcept;
  /// At the front of a relay's scratch memory: 0 at first; whole vectors.
  std::uint64_t counter_bytes() const noexcept;
  /// What `rows` rows are moved with at full speed: what a relay needs, or what holds as many rows as keep the device
  /// busy.
  std::uint64_t bytes(std::uint64_t rows) const noexcept;
  /// Rows that go through scratch memory of `bytes` bytes at a time, of `rows` in all: equal parts, nearly.
  std::uint64_t rows_at_once(std::uint64_t rows, std::uint64_t bytes) const noexcept;

 private:
  std::uint64_t relay_bytes() const noexcept;
};

/// May `bytes` bytes at `scratch` be used to move `rows` rows? Throws Error{invalid_argument} naming what is wrong:
/// null, not aligned to 16 bytes, too few for a row.
void check_scratch(const void* scratch, std::uint64_t bytes, const ScratchPlan& plan);

}  // namespace kiln::permutation
