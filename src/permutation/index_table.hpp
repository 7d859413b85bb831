#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kiln/index_map.hpp"
#include "kiln/permuter.hpp"

namespace kiln::permutation {

/// Packed as templates/kiln/index_table.cuh reads it: `bits` (8, 16 or 32) an entry, the first entry in a word's lowest
/// bits. Every entry must fit in `bits`.
std::vector<std::uint64_t> pack_entries(std::span<const std::uint32_t> entries, unsigned bits);

/// The table of a template that includes kiln/table_source.cuh: as literals, or as module data where those would take
/// the compiler long (65,536 of 16 bits: 60 ms, as much as a kernel).
void set_table(PermuteRequest& request, std::span<const std::uint32_t> entries, unsigned bits);

/// The map as it is, packed.
std::vector<std::uint64_t> pack_table(const IndexMap& map, unsigned bits);

}  // namespace kiln::permutation
