#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "kiln/target.hpp"
#include "permutation/analysis.hpp"
#include "permutation/bucketed.hpp"
#include "permutation/channels.hpp"
#include "permutation/rows.hpp"
#include "permutation/staged.hpp"
#include "permutation/tiled.hpp"

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

using Strategy = std::variant<Direct, DirectData, Staged, Rows, Channels, Tiled, Bucketed>;

struct Choice {
  Strategy strategy;
  std::string reason;                        ///< one sentence
  std::vector<PermuteCandidate> candidates;  ///< as PermuteRequest has them
};

/// Which strategy moves this map, and why: the one that the shape asks for, or the one expected to be fastest
/// (cost.hpp); of those that are so nearly, the one with the simplest kernel. Throws Error{invalid_argument} when the
/// one asked for cannot. Pure.
Choice choose(const BlockMap& blocks, const PermuteShape& shape, const Target& target);

/// Dynamic shared memory that one block may have on an architecture, in bytes.
unsigned shared_bytes_limit(int capability) noexcept;

}  // namespace kiln::permutation
