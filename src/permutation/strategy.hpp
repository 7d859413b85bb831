#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "kiln/target.hpp"
#include "permutation/analysis.hpp"
#include "permutation/bucketed.hpp"
#include "permutation/staged.hpp"

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

using Strategy = std::variant<Direct, DirectData, Staged, Bucketed>;

struct Choice {
  Strategy strategy;
  std::string reason;  ///< one sentence
};

/// Which strategy moves `typical_rows` rows (0: many) of this map, and why. Pure.
Choice choose(const BlockMap& blocks, std::uint64_t typical_rows, const Target& target);

/// Dynamic shared memory that one block may have on an architecture, in bytes.
unsigned shared_bytes_limit(int capability) noexcept;

}  // namespace kiln::permutation
