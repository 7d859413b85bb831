#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kiln/index_map.hpp"

namespace kiln::permutation {

/// Packed as templates/kiln/index_table.cuh reads it: `bits` (8, 16 or 32) an entry, the first entry in a word's lowest
/// bits. Every entry must fit in `bits`.
std::vector<std::uint64_t> pack_entries(std::span<const std::uint32_t> entries, unsigned bits);

/// The map as it is, packed.
std::vector<std::uint64_t> pack_table(const IndexMap& map, unsigned bits);

}  // namespace kiln::permutation
