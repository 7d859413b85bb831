#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/permuter.hpp"
#include "permutation/analysis.hpp"

namespace kiln::permutation {

/// Tiles of whole rows through shared memory, one tile a block. Template permute_staged, where the words are explained.
struct Staged {
  unsigned index_bits = 0;   ///< 8 or 16
  unsigned lanes = 0;        ///< interleaved in shared memory: 1, 2 or 4; of units of 4 bytes or more 1
  unsigned period_rows = 0;  ///< after which the table repeats
  unsigned rows_per_tile =
      0;                 ///< a multiple of lanes * period_rows; of more only if a period makes whole vectors of output
  unsigned threads = 0;  ///< at least 32
  unsigned resident_threads = 0;  ///< that are to fit on a multiprocessor as far as registers go
  bool asynchronous = false;      ///< filled by cp.async where the target has it; with one lane
  friend bool operator==(const Staged&, const Staged&) = default;
};

/// The shape of tile that moves many rows fastest, for blocks that may have `shared_limit` bytes of shared memory.
/// Nothing when no row fits, or when its table would have too many literals. Pure.
std::optional<Staged> choose_staged(const BlockMap& blocks, std::uint64_t shared_limit);

/// Of one block, in bytes.
unsigned shared_bytes(const Staged& staged, const BlockMap& blocks) noexcept;

PermuteRequest staged_request(const Staged& staged, const BlockMap& blocks);

/// The template's `table`: for each unit of a period of output, filled up to whole vectors, the unit of the period of
/// input that goes there.
std::vector<std::uint32_t> staged_entries(const Staged& staged, const BlockMap& blocks);

}  // namespace kiln::permutation
