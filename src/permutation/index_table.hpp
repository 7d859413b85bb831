#pragma once

#include <cstdint>
#include <vector>

#include "kiln/index_map.hpp"

namespace kiln::permutation {

/// The map repeated over `rows` rows and packed as templates/kiln/index_table.cuh reads it: entry r * M + j is
/// r * N + map[j], each block of the map being `units` neighbouring units; `bits` (8, 16 or 32) an entry, the first
/// entry in a word's lowest bits. Every entry must fit in `bits`.
std::vector<std::uint64_t> pack_table(const IndexMap& map, std::uint64_t units, std::uint64_t rows, unsigned bits);

}  // namespace kiln::permutation
