#pragma once

#include "permutation/analysis.hpp"

namespace kiln::permutation {

/// Bytes that a kernel with one thread a unit of the output reads for each byte of it, when a warp reads each 32-byte
/// sector that its units are in once, and none of what other warps read. 1 when neighbours come from neighbours, at
/// most 32 / unit_bytes. Rows start on a sector's boundary. Of a long map some warps are looked at. Pure.
double read_amplification(const BlockMap& blocks);

}  // namespace kiln::permutation
