#include "permutation/strategy.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "permutation/locality.hpp"

namespace kiln::permutation {

namespace {

constexpr std::uint64_t k_vector_bytes = 16;
constexpr std::uint64_t k_sector_bytes = 32;       // what global memory moves at least
constexpr std::uint64_t k_tile_bytes = 16 * 1024;  // measured best for rows that are smaller
constexpr std::uint64_t k_asynchronous_bytes = 32 * 1024;
constexpr std::uint64_t k_most_literals = 65'536;  // what compiles in bounded time
constexpr std::uint64_t k_cached_row_bytes = 2 * 1024;
// A second pass reads and writes all once more. Direct reads so many times the bytes instead, at 0.57 of a copy's
// speed; units of 1 and 2 bytes it moves slower than that wherever they come from.
constexpr double k_little_amplification = 2.5;
// Direct costs by the unit, staged by its latency: 4-byte units in a graph, direct was faster at 36,000 and at 360,000.
constexpr std::uint64_t k_small_launch_units = 256 * 1024;
constexpr unsigned k_direct_threads = 256;
constexpr unsigned k_warp = 32;
constexpr std::uint64_t k_most_threads = 1024;

std::string text_of(std::uint64_t number) { return std::to_string(number); }

unsigned index_bits_for(std::uint64_t sources) noexcept { return sources <= 256 ? 8 : sources <= 65'536 ? 16 : 32; }

Choice direct(const BlockMap& blocks, const std::string& why) {
  if (blocks.map.size() > k_most_literals) {
    return {DirectData{k_direct_threads}, "direct, the table as module data: " + why};
  }
  return {Direct{index_bits_for(blocks.map.source_size()), k_direct_threads}, "direct: " + why};
}

/// A period: the rows after which input and output are whole vectors again.
struct Period {
  std::uint64_t rows = 1;
  std::uint64_t in_bytes = 0;
  std::uint64_t out_bytes = 0;
};

Period period_of(std::uint64_t rows, const BlockMap& blocks) noexcept {
  return {rows, rows * blocks.row_in_units() * blocks.unit_bytes, rows * blocks.row_out_units() * blocks.unit_bytes};
}

bool fits(const Period& period, const BlockMap& blocks, std::uint64_t shared_limit) noexcept {
  return period.in_bytes + k_vector_bytes <= shared_limit && period.rows * blocks.row_in_units() <= k_most_literals &&
         period.rows * blocks.row_out_units() <= k_most_literals;
}

/// The period of whole vectors if it fits, else one row; nothing when not even that fits.
std::optional<Period> find_period(const BlockMap& blocks, std::uint64_t shared_limit) noexcept {
  Period row = period_of(1, blocks);
  if (!fits(row, blocks, shared_limit)) {
    return std::nullopt;
  }
  std::uint64_t common = std::gcd(std::gcd(row.in_bytes, row.out_bytes), k_vector_bytes);
  Period whole = period_of(k_vector_bytes / common, blocks);
  return fits(whole, blocks, shared_limit) ? whole : row;
}

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) noexcept {
  return (value + step - 1) / step * step;
}

/// Threads a block. Where a period's vectors fit in a block, a multiple of them: each thread then serves one place of
/// the period, and keeps its indices in registers over all periods of the tile.
unsigned choose_threads(const Period& period) noexcept {
  std::uint64_t wanted = period.in_bytes > 2 * k_tile_bytes ? 1024 : period.in_bytes >= k_tile_bytes / 2 ? 512 : 256;
  std::uint64_t vectors = period.out_bytes / k_vector_bytes;
  if (period.out_bytes % k_vector_bytes != 0) {
    return static_cast<unsigned>(wanted);
  }
  std::uint64_t allowed = std::min(wanted + k_warp, k_most_threads);
  if (vectors <= allowed) {
    std::uint64_t whole_warps = std::lcm(vectors, std::uint64_t{k_warp});
    std::uint64_t step = whole_warps <= allowed ? whole_warps : vectors;
    std::uint64_t most = wanted % step == 0 ? wanted : allowed;
    return static_cast<unsigned>(std::max(most / step, std::uint64_t{1}) * step);
  }
  std::uint64_t turns = (vectors + wanted - 1) / wanted;
  return static_cast<unsigned>(round_up((vectors + turns - 1) / turns, k_warp));
}

/// Rows a tile: about 16 KB of them, and as many periods as keep every thread busy the same number of times.
unsigned choose_rows(const Period& period, unsigned threads) noexcept {
  std::uint64_t vectors = std::max(period.out_bytes / k_vector_bytes, std::uint64_t{1});
  std::uint64_t groups = std::max(threads / vectors, std::uint64_t{1});
  std::uint64_t periods = k_tile_bytes / std::max(period.in_bytes, period.out_bytes);
  if (periods >= groups) {
    periods = (periods + groups / 2) / groups * groups;
  }
  return static_cast<unsigned>(std::max(periods, std::uint64_t{1}) * period.rows);
}

Staged staged(const Period& period, const BlockMap& blocks) noexcept {
  Staged result;
  result.index_bits = index_bits_for(period.rows * blocks.row_in_units());
  result.period_rows = static_cast<unsigned>(period.rows);
  result.threads = choose_threads(period);
  result.rows_per_tile = choose_rows(period, result.threads);
  // Bytes are gathered at the rate of shared memory: there it pays that registers and issue slots stay free of the
  // copy.
  result.asynchronous = period.in_bytes >= k_asynchronous_bytes || blocks.unit_bytes == 1;
  return result;
}

}  // namespace

unsigned shared_bytes_limit(int capability) noexcept {
  switch (capability) {
    case 75:
      return 64 * 1024;
    case 80:
    case 87:
      return 163 * 1024;
    case 90:
    case 100:
    case 101:
    case 103:
    case 110:
      return 227 * 1024;
    default:  // 8.6, 8.9, 12.x; what is older or newer than all of these has no less
      return capability < 75 ? 48 * 1024 : 99 * 1024;
  }
}

unsigned shared_bytes(const Staged& staged, const BlockMap& blocks) noexcept {
  std::uint64_t tile = staged.rows_per_tile * blocks.row_in_units() * blocks.unit_bytes;
  return static_cast<unsigned>(round_up(tile, k_vector_bytes) + k_vector_bytes);
}

Choice choose(const BlockMap& blocks, std::uint64_t typical_rows, const Target& target) {
  std::uint64_t block_bytes = blocks.units * blocks.unit_bytes;
  std::uint64_t row_in_bytes = blocks.row_in_units() * blocks.unit_bytes;
  if (typical_rows != 0 && typical_rows <= k_small_launch_units / blocks.row_out_units()) {
    return direct(blocks, "launches of about " + text_of(typical_rows) + " rows move " +
                              text_of(typical_rows * blocks.row_out_units()) +
                              " units, too few to make up for the latency of staging");
  }
  if (block_bytes >= 2 * k_sector_bytes) {
    return direct(blocks, "blocks of " + text_of(block_bytes) +
                              " bytes move together, so that global memory is read in whole sectors");
  }
  if (block_bytes == k_vector_bytes && row_in_bytes <= k_cached_row_bytes) {
    return direct(blocks, "blocks of 16 bytes in rows of " + text_of(row_in_bytes) +
                              " bytes: the two halves of a sector are used while it is cached");
  }
  if (blocks.map.size() <= blocks.map.source_size() * block_bytes / (2 * k_sector_bytes)) {
    return direct(blocks, "the map takes " + text_of(blocks.map.size()) + " of " + text_of(blocks.map.source_size()) +
                              " blocks of " + text_of(block_bytes) + " bytes, so that staging whole rows reads more");
  }
  unsigned limit = shared_bytes_limit(target.capability());
  std::optional<Period> period = find_period(blocks, limit);
  if (!period) {
    if (blocks.unit_bytes >= 4) {
      if (double amplification = read_amplification(blocks); amplification <= k_little_amplification) {
        return direct(blocks, "a row of " + text_of(row_in_bytes) +
                                  " bytes is too long for shared memory, and neighbours are read from places so near "
                                  "each other that whole sectors are " +
                                  text_of(static_cast<std::uint64_t>(std::lround(100 * amplification))) +
                                  " % of the bytes");
      }
    }
    std::optional<Bucketed> bucketed;
    if (row_in_bytes > k_cached_row_bytes) {
      bucketed = find_bucketed(blocks, limit);
    }
    if (bucketed) {
      return {*bucketed, "bucketed: rows of " + text_of(row_in_bytes) +
                             " bytes, too long for the shared memory of a block, are moved in two passes over "
                             "segments of " +
                             text_of(bucketed->source_segment) + " units"};
    }
    std::uint64_t longest = std::max(blocks.row_in_units(), blocks.row_out_units());
    return direct(blocks, longest > k_most_literals
                              ? "rows of " + text_of(longest) + " units need more than " + text_of(k_most_literals) +
                                    " literals in a table"
                              : "a row of " + text_of(row_in_bytes) + " bytes does not fit in the " + text_of(limit) +
                                    " bytes of shared memory of a block");
  }
  Staged result = staged(*period, blocks);
  return {result, "staged: tiles of " + text_of(result.rows_per_tile) + " rows of " + text_of(row_in_bytes) +
                      " bytes are read and written in 16-byte vectors and permuted in shared memory"};
}

}  // namespace kiln::permutation
