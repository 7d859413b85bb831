#pragma once

#include <cstdint>

#include "kiln/index_map.hpp"
#include "kiln/permuter.hpp"

namespace kiln::permutation {

/// The largest g such that the map moves aligned groups of g neighbours as they are: g divides M and N, and
/// map[k * g + i] = map[k * g] + i with map[k * g] a multiple of g. The identity gives M; 1 when nothing moves
/// together. Pure, O(M), ends early when the answer is 1.
std::uint64_t moving_group(const IndexMap& map);

/// The map of groups: element k is map[k * group] / group.
IndexMap map_of_groups(const IndexMap& map, std::uint64_t group);

/// An index map of blocks of bytes: what a map, an element size and an inner size come to. A block is as large as the
/// map allows, and moves as `units` units, the widest type (1, 2, 4, 8 or 16 bytes) that divides it.
struct BlockMap {
  IndexMap map;
  unsigned element_bytes = 0;  ///< what callers align their pointers to
  unsigned unit_bytes = 0;
  std::uint64_t units = 0;  ///< a block

  std::uint64_t row_out_units() const noexcept { return map.size() * units; }
  std::uint64_t row_in_units() const noexcept { return map.source_size() * units; }
};

/// Bytes that a row may have, on either side: what a GPU can address.
inline constexpr std::uint64_t k_most_row_bytes = std::uint64_t{1} << 48;

/// Throws Error{invalid_argument} naming the field of `shape` that no map, or not this one, can be used with: an
/// element size that there is not, nothing that moves, rows longer than any.
void check_shape(const IndexMap& map, const PermuteShape& shape);

/// Pure. Throws what check_shape does.
BlockMap block_map(const IndexMap& map, const PermuteShape& shape);

}  // namespace kiln::permutation
