#include "permutation/rows.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "kiln/error.hpp"
#include "permutation/ending.hpp"
#include "permutation/sizes.hpp"
#include "permutation/strategy.hpp"

namespace kiln::permutation {

namespace {

constexpr std::uint64_t k_bank_row_bytes = 128;           // all banks once: what vectors change places within
constexpr std::uint64_t k_merged_bytes = 5 * 1024;        // of a line of several rows, at most
constexpr std::uint64_t k_interleaved_bytes = 72 * 1024;  // of a tile, so that three share a multiprocessor
constexpr std::uint64_t k_asynchronous_bytes = 64 * 1024;
constexpr std::uint64_t k_small_launch_units = 256 * 1024;
constexpr unsigned k_element_threads = 256;

std::string text_of(std::uint64_t number) { return std::to_string(number); }

/// Of so many rows of x, with what stands between them.
std::uint64_t bytes_in_of(std::uint64_t rows, const RowBytes& bytes) noexcept {
  return (rows - 1) * bytes.stride_in + bytes.in;
}

/// Of shared memory: what is read in one go starts anywhere in its first vector that elements let it. Rows that no
/// whole sector parts are, else a line.
std::uint64_t tile_room(const RowMap& map, const Rows& rows) noexcept {
  const std::uint64_t aligned = std::min(map.blocks.element_bytes, map.blocks.unit_bytes);
  const bool is_run = map.bytes.stride_in - map.bytes.in < k_sector_bytes;
  const std::uint64_t piece_rows = rows.line_rows * std::uint64_t{is_run ? rows.lane_lines : 1};
  const std::uint64_t piece = round_up(bytes_in_of(piece_rows, map.bytes) + k_vector_bytes - aligned, k_vector_bytes);
  return round_up(rows.lanes * piece * (is_run ? 1 : rows.lane_lines), k_bank_row_bytes);
}

/// Of a line of y that starts anywhere in its first vector that elements and strides let it.
std::uint64_t vectors_of_line(const Rows& rows, const RowBytes& bytes) noexcept {
  const bool starts_alike = rows.line_rows * bytes.stride_out % k_vector_bytes == 0;
  const std::uint64_t behind = starts_alike ? 0 : k_vector_bytes - std::min<std::uint64_t>(bytes.element_out, 16);
  return divide_up((rows.line_rows - 1) * bytes.stride_out + bytes.out + behind, k_vector_bytes);
}

/// Short rows are taken together where that makes whole vectors of them and little stands between them.
std::uint64_t line_rows_of(const RowBytes& bytes) noexcept {
  const auto is_close = [](std::uint64_t stride, std::uint64_t row) {
    return stride - row < std::max(k_vector_bytes, row / 4);
  };
  const std::uint64_t whole = lines_until_alike(1, bytes);
  return is_close(bytes.stride_in, bytes.in) && is_close(bytes.stride_out, bytes.out) &&
                 whole * std::max(bytes.stride_in, bytes.stride_out) <= k_merged_bytes
             ? whole
             : 1;
}

/// Sixteen elements of a byte at a time take twice the registers where each is changed, or has an index of four bytes.
bool is_heavy(const Rows& rows, const RowMap& map) noexcept {
  return map.output_bytes() == 1 && (map.ending || rows.index_bits == 32);
}

/// Do lines of y all start equally far from a vector?
bool starts_alike(const Rows& rows, const RowBytes& bytes) noexcept {
  return rows.line_rows * bytes.stride_out % k_vector_bytes == 0;
}

/// Threads that share the vectors of a line, more than 128 of them: enough to keep a multiprocessor busy with tiles of
/// `tile_bytes`, and so many that the last turn leaves few idle.
std::uint64_t threads_for(std::uint64_t vectors, unsigned lanes, std::uint64_t tile_bytes, bool alike) noexcept {
  constexpr std::uint64_t k_most_of_short = 320;
  constexpr std::uint64_t k_multiprocessor_bytes = 227 * 1024;  // of sm_90
  constexpr std::uint64_t k_block_bytes = 1024;                 // that a block takes more than it asks for
  const std::uint64_t tiles = std::max<std::uint64_t>(k_multiprocessor_bytes / (tile_bytes + k_block_bytes), 1);
  const std::uint64_t one_turn = round_up(vectors, k_warp);
  const auto busy = [&](std::uint64_t threads) { return round_up(divide_up(threads, tiles), k_warp); };
  if (lanes == 1) {
    // Small blocks, so that one's edges are written while another's vectors are: there are more edges between vectors.
    const std::uint64_t most_of_small = alike ? 512 : 1056;
    return std::min(one_turn, vectors <= most_of_small ? 128 : std::bit_ceil(std::max<std::uint64_t>(busy(1024), 256)));
  }
  if (lanes == 4) {
    const bool few_idle = one_turn <= k_most_of_short && one_turn - vectors <= vectors / 20;
    return few_idle ? one_turn : std::clamp<std::uint64_t>(busy(1024), 96, k_most_of_short);
  }
  const std::uint64_t least = std::max<std::uint64_t>(busy(1536), 160);
  if (least > k_most_of_short) {
    return std::min(one_turn, least <= 384 ? least : tiles > 1 ? 512 : 1024);
  }
  std::uint64_t best = least;
  for (std::uint64_t threads = least; threads <= k_most_of_short; threads += k_warp) {
    if (round_up(vectors, threads) <= round_up(vectors, best)) {
      best = threads;
    }
  }
  return best;
}

/// Single bytes between vectors: where each thread has one vector of a line, registers do for more threads.
bool takes_one_turn(const Rows& rows, const RowMap& map, std::uint64_t vectors) noexcept {
  return rows.lanes == 4 && !map.ending && !starts_alike(rows, map.bytes) && vectors > 64 && vectors <= 384;
}

/// For how many threads a multiprocessor's registers are to do, where lines have `vectors` vectors: conversions do with
/// few. What an expression takes nobody knows.
unsigned resident_threads(const Rows& rows, const RowMap& map, std::uint64_t vectors) noexcept {
  const unsigned from = map.blocks.unit_bytes;
  const unsigned to = map.output_bytes();
  if (map.ending && map.ending->expression.empty() && rows.index_bits < 32) {
    if (from == 2 && to != 2) {
      return 2048;
    }
    if (from == 4 && to < 4) {
      return 1280;
    }
    if (from == 1 && to == 2 && vectors <= 256) {
      return 1536;
    }
  }
  if (is_heavy(rows, map)) {
    return 512;
  }
  return (rows.lanes == 2 && from == 2) || takes_one_turn(rows, map, vectors) ? 1536 : 1024;
}

/// Measured on an H200, over three thousand shapes of tiles: blocks of 128 threads that have the same vector of several
/// lines, or some more that share the vectors of one.
Rows rows_of(const RowMap& map, unsigned lanes) noexcept {
  constexpr std::uint64_t k_short_threads = 128;
  constexpr std::uint64_t k_few_turns = 320;  // vectors of a line that several lines are taken together of
  Rows rows;
  rows.lanes = lanes;
  // Single bytes between whose rows there is something are put together faster row by row.
  const bool merges = map.bytes.dense() || map.blocks.unit_bytes > 1;
  rows.line_rows = merges ? static_cast<unsigned>(line_rows_of(map.bytes)) : 1;
  const std::uint64_t sources = bytes_in_of(rows.line_rows, map.bytes) / map.blocks.unit_bytes;
  rows.index_bits = sources <= 256 ? 8 : sources <= 65'536 ? 16 : 32;
  const std::uint64_t vectors = vectors_of_line(rows, map.bytes);
  rows.resident_threads = resident_threads(rows, map, vectors);
  const std::uint64_t at_once = std::max<std::uint64_t>(k_short_threads / vectors, 1);
  const std::uint64_t until_alike = lanes == 1 ? 1 : lines_until_alike(rows.line_rows, map.bytes);
  const bool alike = starts_alike(rows, map.bytes);
  const bool is_long = vectors > k_short_threads;
  const bool takes_several = lanes == 1 && is_long && vectors <= k_few_turns;
  // Odd lines of few vectors more than a block has threads waste least when they take a turn each.
  const bool takes_turns =
      takes_several && vectors % k_warp != 0 && round_up(vectors, k_short_threads) - vectors > vectors / 10;
  // As many lines as leave addresses alike, or a part of them.
  const std::uint64_t lines = takes_turns               ? 4
                              : takes_several && !alike ? 2
                              : is_long                 ? 1
                              : lanes == 1              ? 2 * at_once
                                                        : at_once;
  rows.lane_lines = static_cast<unsigned>(lines >= until_alike ? lines - lines % until_alike : std::bit_floor(lines));
  rows.lane_distance = std::max(rows.lane_lines, static_cast<unsigned>(until_alike));
  const std::uint64_t room = tile_room(map, rows);
  const bool one_turn = !is_long || takes_turns || takes_one_turn(rows, map, vectors);
  const std::uint64_t threads =
      one_turn ? round_up(at_once * vectors, k_warp) : threads_for(vectors, lanes, room, alike);
  rows.threads = static_cast<unsigned>(std::min<std::uint64_t>(threads, is_heavy(rows, map) ? 512 : 1024));
  rows.asynchronous = lanes == 1 && room > k_asynchronous_bytes;
  return rows;
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
  BlockMap blocks = block_map(map, shape);
  const auto unit =
      static_cast<unsigned>(std::gcd(std::uint64_t{blocks.unit_bytes}, std::gcd(bytes.stride_in, bytes.stride_out)));
  blocks.units *= blocks.unit_bytes / unit;
  blocks.unit_bytes = unit;
  return {std::move(blocks), bytes, std::nullopt};
}

RowMap dense_rows(const BlockMap& blocks) {
  RowBytes bytes;
  bytes.out = bytes.stride_out = blocks.row_out_units() * blocks.unit_bytes;
  bytes.in = bytes.stride_in = blocks.row_in_units() * blocks.unit_bytes;
  bytes.element = bytes.element_out = blocks.element_bytes;
  return {blocks, bytes, std::nullopt};
}

std::uint64_t lines_until_alike(std::uint64_t line_rows, const RowBytes& bytes) noexcept {
  const std::uint64_t strides = line_rows * std::gcd(bytes.stride_in, bytes.stride_out);
  return k_vector_bytes / std::gcd(strides, k_vector_bytes);
}

std::optional<Rows> choose_rows(const RowMap& map, std::uint64_t shared_limit) {
  // Small units are moved several rows at a time, those of very long rows fewer, and of very short ones.
  const bool is_short = map.bytes.out < k_bank_row_bytes && !map.bytes.dense();
  for (unsigned lanes = 4 / std::min(map.blocks.unit_bytes, 4U) / (is_short ? 2 : 1); lanes > 1; lanes /= 2) {
    const Rows rows = rows_of(map, lanes);
    const std::uint64_t most = lanes * map.blocks.unit_bytes == 2 ? shared_limit : k_interleaved_bytes;
    if (tile_room(map, rows) <= std::min(shared_limit, most)) {
      return rows;
    }
  }
  Rows rows = rows_of(map, 1);
  while (tile_room(map, rows) > shared_limit && rows.lane_lines > 1) {
    rows.lane_lines = rows.lane_distance = rows.lane_lines / 2;
  }
  return tile_room(map, rows) <= shared_limit ? std::optional(rows) : std::nullopt;
}

Elements choose_elements(const RowMap& map) {
  const std::uint64_t sources = map.blocks.map.source_size();
  Elements elements;
  elements.index_bits = sources <= 256 ? 8 : sources <= 65'536 ? 16 : 32;
  elements.threads = k_element_threads;
  return elements;
}

RowChoice choose_for_rows(const RowMap& map, const PermuteShape& shape, const Target& target) {
  const std::uint64_t limit = shared_bytes_limit(target.capability());
  const std::uint64_t typical_rows = shape.typical_rows;
  const std::optional<Rows> rows = choose_rows(map, limit);
  if (map.bytes.in_place && !rows) {
    refuse("in_place is true, but " + row_in_words(map.bytes.in, limit) + " does not fit into the " + text_of(limit) +
           " bytes of shared memory that a block of " + target.text() + " may have: permute into another buffer");
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
    return {elements, "elements: launches of about " + rows_in_words(typical_rows) + " move " +
                          text_of(typical_rows * blocks.row_out_units()) +
                          " units, too few to make up for the latency of staging"};
  }
  if (block_bytes >= 2 * k_sector_bytes && blocks.unit_bytes == k_vector_bytes) {
    return {elements, "elements: blocks of " + text_of(block_bytes) +
                          " bytes move together, so that global memory is read in whole sectors"};
  }
  if (takes_few(blocks, block_bytes)) {
    return {elements, "elements: the map takes " + text_of(blocks.map.size()) + " of " +
                          text_of(blocks.map.source_size()) + " blocks of " + text_of(block_bytes) +
                          " bytes, so that staging whole rows reads more"};
  }
  if (!rows) {
    return {elements, "elements: " + row_in_words(map.bytes.in, limit) + " does not fit in the " + text_of(limit) +
                          " bytes of shared memory of a block"};
  }
  return {*rows, "rows: rows of " + text_of(map.bytes.in) + " bytes, " + text_of(map.bytes.stride_in) +
                     " apart in x and " + text_of(map.bytes.stride_out) +
                     " in y, are read and written in 16-byte vectors and permuted in " + "shared memory"};
}

std::uint64_t shared_bytes(const Rows& rows, const RowMap& map) noexcept { return tile_room(map, rows); }

}  // namespace kiln::permutation
