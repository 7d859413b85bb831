#pragma once

#include <cstdint>

namespace kiln::permutation {

/// What a launch needs to know of its rows.
struct RowBytes {
  std::uint64_t out = 0;  ///< of y
  std::uint64_t in = 0;   ///< of x
  unsigned element = 0;   ///< pointers are aligned to this
};

/// May these pointers and rows be launched? Throws Error{invalid_argument} naming what may not: a pointer that is null
/// or misaligned, more than 2^40 rows, rows that no address space holds, x and y that overlap. Nothing is checked for 0
/// rows.
void check_launch(const void* y, const void* x, std::uint64_t rows, const RowBytes& bytes);

}  // namespace kiln::permutation
