#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "kiln/target.hpp"
#include "permutation/analysis.hpp"
#include "permutation/bucketed.hpp"

namespace kiln::permutation {

/// One thread a unit of the output, indices from a literal table. Template permute_direct.
struct Direct {
  unsigned index_bits = 0;  ///< 8, 16 or 32
  unsigned threads = 0;
  friend bool operator==(const Direct&, const Direct&) = default;
};

/// One thread a unit of the output, indices from module data. Template permute_direct_data.
struct DirectData {
  unsigned threads = 0;
  friend bool operator==(const DirectData&, const DirectData&) = default;
};

/// Tiles of whole rows through shared memory, one tile a block. Template permute_staged.
struct Staged {
  unsigned index_bits = 0;     ///< 8 or 16
  unsigned period_rows = 0;    ///< rows that the table covers: as many as make whole 16-byte vectors, else 1
  unsigned rows_per_tile = 0;  ///< a multiple of period_rows
  unsigned threads = 0;
  bool asynchronous = false;  ///< filled by cp.async where the target has it
  friend bool operator==(const Staged&, const Staged&) = default;
};

using Strategy = std::variant<Direct, DirectData, Staged, Bucketed>;

struct Choice {
  Strategy strategy;
  std::string reason;  ///< one sentence
};

/// Which strategy moves `typical_rows` rows (0: many) of this map, and why. Pure.
Choice choose(const BlockMap& blocks, std::uint64_t typical_rows, const Target& target);

/// Dynamic shared memory that one block may have on an architecture, in bytes.
unsigned shared_bytes_limit(int capability) noexcept;

/// Of one block, in bytes: a tile of input rows, and room to start it where global memory's alignment has it.
unsigned shared_bytes(const Staged& staged, const BlockMap& blocks) noexcept;

}  // namespace kiln::permutation
