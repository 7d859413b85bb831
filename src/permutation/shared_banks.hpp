#pragma once

#include <cstdint>

#include "permutation/tiled.hpp"

namespace kiln::permutation {

// Shared memory answers 32 threads in a cycle, when each needs another bank or the same word.
inline constexpr std::uint64_t k_banks = 32;
inline constexpr std::uint64_t k_bank_bytes = 4;

/// Bytes that neighbours in a vector of a tile's side can be moved by at once in shared memory, wherever the vector is:
/// at most 16.
unsigned shared_piece_bytes(const TileSide& side, unsigned unit_bytes) noexcept;

/// Cycles that shared memory takes to move the units of a tile's side, `piece_bytes` of them an instruction of a
/// thread: of some warps, as if of all. Pure.
std::uint64_t bank_cycles(const TileSide& side, unsigned unit_bytes, unsigned piece_bytes);

/// How words stand in shared memory: in order, or as the template permute_staged puts them, where the order of eight
/// neighbouring vectors changes from eight to eight.
enum class WordOrder { plain, swizzled };

/// Cycles that shared memory takes, on average, when the threads of a warp each gather a word for their 16-byte vectors
/// of the output from a whole row: 1 where all need other banks, 32 at most. A word is a unit of each of `lanes` rows.
/// Of some warps. Pure.
double gather_cycles(const BlockMap& blocks, unsigned lanes, WordOrder order);

}  // namespace kiln::permutation
