#include "permutation/rows.hpp"

#include <algorithm>
#include <numeric>

#include "kiln/error.hpp"
#include "permutation/ending.hpp"
#include "permutation/sizes.hpp"
#include "permutation/strategy.hpp"

namespace kiln::permutation {

namespace {

constexpr std::uint64_t k_bank_row_bytes = 128;      // all banks once: what vectors change places within
constexpr std::uint64_t k_tile_bytes = 16 * 1024;    // of a tile of short lines, about
constexpr std::uint64_t k_merged_bytes = 4 * 1024;   // of a line of several rows, at most
constexpr std::uint64_t k_middle_bytes = 32 * 1024;  // of a line
constexpr std::uint64_t k_asynchronous_bytes = 64 * 1024;
constexpr std::uint64_t k_small_launch_units = 256 * 1024;
constexpr unsigned k_short_threads = 256;
constexpr unsigned k_middle_threads = 512;
constexpr unsigned k_most_threads = 1024;
constexpr unsigned k_resident_threads = 1024;

std::string text_of(std::uint64_t number) { return std::to_string(number); }

/// Of shared memory, for a line that starts anywhere in its first vector that elements let it.
std::uint64_t line_room(const RowMap& map, std::uint64_t line_rows) noexcept {
  const std::uint64_t aligned = std::min(map.blocks.element_bytes, map.blocks.unit_bytes);
  return round_up(line_rows * map.bytes.in + k_vector_bytes - aligned, k_vector_bytes);
}

std::uint64_t tile_room(const RowMap& map, std::uint64_t line_rows, std::uint64_t lines) noexcept {
  return round_up(lines * line_room(map, line_rows), k_bank_row_bytes);
}

/// Short rows that stand side by side are taken together where that makes whole vectors of them.
std::uint64_t line_rows_of(const RowBytes& bytes) noexcept {
  if (!bytes.dense()) {
    return 1;
  }
  const std::uint64_t whole = k_vector_bytes / std::gcd(std::gcd(bytes.in, bytes.out), k_vector_bytes);
  return whole * std::max(bytes.in, bytes.out) <= k_merged_bytes ? whole : 1;
}

/// Is less read when each block is, in two sectors, than when whole rows are?
bool takes_few(const BlockMap& blocks, std::uint64_t block_bytes) noexcept {
  return blocks.map.size() * 2 * k_sector_bytes <=
             blocks.map.source_size() * std::min(block_bytes, 2 * k_sector_bytes) &&
         blocks.map.size() * 2 <= blocks.map.source_size();
}

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

/// What shape.strategy may be.
void check_strategy(const RowMap& map, PermuteStrategy strategy, bool fits) {
  switch (strategy) {
    case PermuteStrategy::automatic:
      return;
    case PermuteStrategy::rows:
      if (!fits) {
        refuse("strategy is rows: a row of " + text_of(map.bytes.in) +
               " bytes does not fit in the shared memory of a block; automatic chooses");
      }
      return;
    case PermuteStrategy::elements:
      if (map.bytes.in_place) {
        refuse("strategy is elements: in place, whole rows must be read before any is written; automatic chooses");
      }
      return;
    default:
      refuse(
          "strategy is one for dense rows as they are: rows and elements move those that are pitched, in place or have "
          "an ending, automatic chooses");
  }
}

}  // namespace

bool needs_rows(const PermuteShape& shape, const RowBytes& bytes) noexcept {
  const bool changes = shape.ending && !changes_nothing(*shape.ending);
  return changes || shape.in_place || !bytes.dense() || shape.strategy == PermuteStrategy::rows ||
         shape.strategy == PermuteStrategy::elements;
}

RowMap row_map(const IndexMap& map, const PermuteShape& shape) {
  RowBytes bytes = row_bytes(map, shape);
  if (shape.ending && !changes_nothing(*shape.ending)) {
    return {{map, shape.element_bytes, shape.element_bytes, shape.inner}, bytes, shape.ending};
  }
  return {block_map(map, shape), bytes, std::nullopt};
}

std::optional<Rows> choose_rows(const RowMap& map, std::uint64_t shared_limit) {
  if (tile_room(map, 1, 1) > shared_limit) {
    return std::nullopt;
  }
  const std::uint64_t line_rows = line_rows_of(map.bytes);
  const std::uint64_t line_bytes = line_rows * std::max(map.bytes.in, map.bytes.out);
  const std::uint64_t sources = line_rows * map.blocks.row_in_units();
  const std::uint64_t vectors = divide_up(line_rows * map.bytes.out, k_vector_bytes);
  Rows rows;
  rows.index_bits = sources <= 256 ? 8 : sources <= 65'536 ? 16 : 32;
  rows.line_rows = static_cast<unsigned>(line_rows);
  // Sixteen elements of a byte at a time, each changed, take twice the registers.
  const bool heavy = map.ending && map.output_bytes() == 1;
  rows.resident_threads = heavy ? k_resident_threads / 2 : k_resident_threads;
  std::uint64_t lines = std::max<std::uint64_t>(k_tile_bytes / line_bytes, 1);
  if (vectors <= k_short_threads) {
    // Every thread has the same vector of several lines: as many of them as leave none idle at the end.
    const std::uint64_t at_once = k_short_threads / vectors;
    lines = std::max(lines / at_once, std::uint64_t{1}) * at_once;
    rows.threads = static_cast<unsigned>(round_up(at_once * vectors, k_warp));
  } else {
    rows.threads = line_bytes <= k_tile_bytes     ? k_short_threads
                   : line_bytes <= k_middle_bytes ? k_middle_threads
                   : heavy                        ? k_middle_threads
                                                  : k_most_threads;
  }
  while (tile_room(map, line_rows, lines) > shared_limit) {
    --lines;
  }
  rows.lines_per_tile = static_cast<unsigned>(lines);
  rows.asynchronous = tile_room(map, line_rows, lines) > k_asynchronous_bytes;
  return rows;
}

Elements choose_elements(const RowMap& map) {
  const std::uint64_t strides = std::gcd(map.bytes.stride_in, map.bytes.stride_out);
  const std::uint64_t sources = map.blocks.map.source_size();
  Elements elements;
  elements.unit_bytes =
      map.ending ? map.blocks.unit_bytes : static_cast<unsigned>(std::gcd(map.blocks.unit_bytes, strides));
  elements.index_bits = sources <= 256 ? 8 : sources <= 65'536 ? 16 : 32;
  elements.threads = k_short_threads;
  return elements;
}

RowChoice choose_for_rows(const RowMap& map, const PermuteShape& shape, const Target& target) {
  const std::uint64_t limit = shared_bytes_limit(target.capability());
  const std::uint64_t typical_rows = shape.typical_rows;
  const std::optional<Rows> rows = choose_rows(map, limit);
  if (map.bytes.in_place && !rows) {
    refuse("in_place is true, but a row of " + text_of(map.bytes.in) + " bytes does not fit into the " +
           text_of(limit) + " bytes of shared memory that a block of " + target.text() +
           " may have: permute into another buffer");
  }
  check_strategy(map, shape.strategy, rows.has_value());
  if (shape.strategy == PermuteStrategy::rows) {
    return {*rows, "rows: asked for"};
  }
  if (shape.strategy == PermuteStrategy::elements) {
    return {choose_elements(map), "elements: asked for"};
  }
  if (map.bytes.in_place) {
    return {*rows, "rows: whole rows of " + text_of(map.bytes.in) +
                       " bytes are in shared memory before any is written, " +
                       "so that they change places where they are"};
  }
  const Elements elements = choose_elements(map);
  const BlockMap& blocks = map.blocks;
  const std::uint64_t block_bytes = blocks.units * blocks.unit_bytes;
  if (typical_rows != 0 && typical_rows <= k_small_launch_units / blocks.row_out_units()) {
    return {elements, "elements: launches of about " + text_of(typical_rows) + " rows move " +
                          text_of(typical_rows * blocks.row_out_units()) +
                          " units, too few to make up for the latency of staging"};
  }
  if (block_bytes >= 2 * k_sector_bytes && elements.unit_bytes == k_vector_bytes) {
    return {elements, "elements: blocks of " + text_of(block_bytes) +
                          " bytes move together, so that global memory is read in whole sectors"};
  }
  if (takes_few(blocks, block_bytes)) {
    return {elements, "elements: the map takes " + text_of(blocks.map.size()) + " of " +
                          text_of(blocks.map.source_size()) + " blocks of " + text_of(block_bytes) +
                          " bytes, so that staging whole rows reads more"};
  }
  if (!rows) {
    return {elements, "elements: a row of " + text_of(map.bytes.in) + " bytes does not fit in the " + text_of(limit) +
                          " bytes of shared memory of a block"};
  }
  return {*rows, "rows: rows of " + text_of(map.bytes.in) + " bytes, " + text_of(map.bytes.stride_in) +
                     " apart in x and " + text_of(map.bytes.stride_out) +
                     " in y, are read and written in 16-byte vectors and permuted in " + "shared memory"};
}

std::uint64_t shared_bytes(const Rows& rows, const RowMap& map) noexcept {
  return tile_room(map, rows.line_rows, rows.lines_per_tile);
}

}  // namespace kiln::permutation
