#include "permutation/strategy.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "permutation/locality.hpp"

namespace kiln::permutation {

namespace {

constexpr std::uint64_t k_vector_bytes = 16;
constexpr std::uint64_t k_sector_bytes = 32;       // what global memory moves at least
constexpr std::uint64_t k_most_literals = 65'536;  // what compiles in bounded time
constexpr std::uint64_t k_cached_row_bytes = 2 * 1024;
// A second pass reads and writes all once more. Direct reads so many times the bytes instead, at 0.57 of a copy's
// speed; units of 1 and 2 bytes it moves slower than that wherever they come from.
constexpr double k_little_amplification = 2.5;
// Direct costs by the unit, staged by its latency: 4-byte units in a graph, direct was faster at 36,000 and at 360,000.
constexpr std::uint64_t k_small_launch_units = 256 * 1024;
constexpr unsigned k_direct_threads = 256;

std::string text_of(std::uint64_t number) { return std::to_string(number); }

unsigned index_bits_for(std::uint64_t sources) noexcept { return sources <= 256 ? 8 : sources <= 65'536 ? 16 : 32; }

Choice direct(const BlockMap& blocks, const std::string& why) {
  if (blocks.map.size() > k_most_literals) {
    return {DirectData{k_direct_threads}, "direct, the table as module data: " + why};
  }
  return {Direct{index_bits_for(blocks.map.source_size()), k_direct_threads}, "direct: " + why};
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

Choice choose(const BlockMap& blocks, std::uint64_t typical_rows, const Target& target) {
  std::uint64_t block_bytes = blocks.units * blocks.unit_bytes;
  std::uint64_t row_in_bytes = blocks.row_in_units() * blocks.unit_bytes;
  unsigned limit = shared_bytes_limit(target.capability());
  bool few_read = blocks.map.size() <= blocks.map.source_size() * block_bytes / (2 * k_sector_bytes);
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
  if (few_read) {
    return direct(blocks, "the map takes " + text_of(blocks.map.size()) + " of " + text_of(blocks.map.source_size()) +
                              " blocks of " + text_of(block_bytes) + " bytes, so that staging whole rows reads more");
  }
  std::optional<Staged> staged = choose_staged(blocks, limit);
  if (!staged) {
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
  return {*staged, "staged: tiles of " + text_of(staged->rows_per_tile) + " rows of " + text_of(row_in_bytes) +
                       " bytes are read and written in 16-byte vectors and permuted in shared memory"};
}

}  // namespace kiln::permutation
