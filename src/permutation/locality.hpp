#pragma once

#include <cstdint>

#include "permutation/analysis.hpp"
#include "permutation/sizes.hpp"

namespace kiln::permutation {

inline constexpr std::uint64_t k_piece_bytes = 64;  ///< that the device's memory hands out

/// Bytes that a kernel with one thread a unit of the output reads for each byte of it, when a warp reads each sector,
/// or longer piece, that its units are in once, and none of what other warps read. 1 when neighbours come from
/// neighbours, at most piece_bytes / unit_bytes. Rows start on a piece's boundary. Of a long map some warps are looked
/// at. Pure.
double read_amplification(const BlockMap& blocks, std::uint64_t piece_bytes = k_sector_bytes);

/// Bytes of x that memory hands out for each byte of the output, when each piece of a row that some unit is in is
/// fetched once: 1 for a permutation of longer rows, less where units are repeated. Pure, O(M + N).
double read_share(const BlockMap& blocks);

}  // namespace kiln::permutation
