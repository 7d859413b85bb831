#pragma once

#include <cstdint>

#include "permutation/row_bytes.hpp"

namespace kiln::permutation {

/// May these pointers and rows be launched? Throws Error{invalid_argument} naming what may not: a pointer that is null
/// or misaligned, more than 2^40 rows, rows that no address space holds, x and y that overlap, or that differ in place.
/// Nothing is checked for 0 rows.
void check_launch(const void* y, const void* x, std::uint64_t rows, const RowBytes& bytes);

}  // namespace kiln::permutation
