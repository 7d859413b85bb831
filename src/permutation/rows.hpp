#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "kiln/permuter.hpp"
#include "kiln/target.hpp"
#include "permutation/analysis.hpp"
#include "permutation/row_bytes.hpp"

namespace kiln::permutation {

/// A map, and rows that need not be dense, whose strides are whole units. With an ending units are elements of x,
/// whatever moves together.
struct RowMap {
  BlockMap blocks;
  RowBytes bytes;
  std::optional<PermuteEnding> ending;

  const PermuteEnding* what_is_done() const noexcept { return ending ? &*ending : nullptr; }
  /// Of y: what a unit becomes, in bytes.
  unsigned output_bytes() const noexcept { return ending ? bytes.element_out : blocks.unit_bytes; }
};

/// Whole rows through shared memory. Template permute_rows, where the words are explained.
struct Rows {
  unsigned index_bits = 0;  ///< 8, 16 or 32
  unsigned line_rows = 0;   ///< taken together
  unsigned lanes = 1;       ///< of 1-byte units 1, 2 or 4, of 2-byte ones 1 or 2
  unsigned lane_lines = 0;
  unsigned lane_distance = 0;     ///< in lines, a multiple of lane_lines
  unsigned threads = 0;           ///< a multiple of 32
  unsigned resident_threads = 0;  ///< that are to fit on a multiprocessor as far as registers go
  bool asynchronous = false;      ///< filled by cp.async where the target has it; with one lane
  friend bool operator==(const Rows&, const Rows&) = default;
};

/// One thread a unit of the output. Template permute_elements.
struct Elements {
  unsigned index_bits = 0;  ///< 8, 16 or 32
  unsigned threads = 0;
  friend bool operator==(const Elements&, const Elements&) = default;
};

using RowStrategy = std::variant<Rows, Elements>;

struct RowChoice {
  RowStrategy strategy;
  std::string reason;  ///< one sentence
};

/// Is this no matter of dense rows alone, or asked for? Then the choice is one of these strategies.
bool needs_rows(const PermuteShape& shape, const RowBytes& bytes) noexcept;

/// Pure. Throws what row_bytes does.
RowMap row_map(const IndexMap& map, const PermuteShape& shape);

/// What rows of this map are if they are dense.
RowMap dense_rows(const BlockMap& blocks);

/// Lines and tiles that move many rows fast. Nothing when no row fits into `shared_limit` bytes. Pure.
std::optional<Rows> choose_rows(const RowMap& rows, std::uint64_t shared_limit);
Elements choose_elements(const RowMap& rows);

/// Which moves rows of this map, in launches of about shape.typical_rows, and why; or shape.strategy, if it can. Pure.
/// Throws Error{invalid_argument} when none can, or not that: rows that are to be permuted in place must fit into the
/// shared memory of a block.
RowChoice choose_for_rows(const RowMap& rows, const PermuteShape& shape, const Target& target);

/// Lines after which addresses are as far behind a vector's start as before, in x and in y: what the distance of
/// several lanes must be a multiple of.
std::uint64_t lines_until_alike(std::uint64_t line_rows, const RowBytes& bytes) noexcept;

/// Dynamic shared memory of a block, in bytes.
std::uint64_t shared_bytes(const Rows& rows, const RowMap& map) noexcept;

/// The kernel and its launch; no reason is given.
PermuteRequest rows_request(const Rows& rows, const RowMap& map);
PermuteRequest elements_request(const Elements& elements, const RowMap& map);

/// All of it. Pure.
PermuteRequest plan_rows(const IndexMap& map, const PermuteShape& shape, const Target& target);

}  // namespace kiln::permutation
