#include "permutation/strategy.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "kiln/error.hpp"
#include "permutation/locality.hpp"
#include "permutation/shared_banks.hpp"

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
// A random map has three or four; a transpose of 64 x 64 4-byte units, with 16, was moved at 0.67 of a copy's speed.
constexpr double k_many_cycles = 8;

std::string text_of(std::uint64_t number) { return std::to_string(number); }

unsigned index_bits_for(std::uint64_t sources) noexcept { return sources <= 256 ? 8 : sources <= 65'536 ? 16 : 32; }

Choice direct(const BlockMap& blocks, const std::string& why) {
  if (blocks.map.size() > k_most_literals) {
    return {DirectData{k_direct_threads}, "direct, the table as module data: " + why};
  }
  return {Direct{index_bits_for(blocks.map.source_size()), k_direct_threads}, "direct: " + why};
}

class Chooser {
 public:
  Chooser(const BlockMap& blocks, std::uint64_t typical_rows, unsigned limit)
      : blocks_(blocks),
        typical_rows_(typical_rows),
        limit_(limit),
        block_bytes_(blocks.units * blocks.unit_bytes),
        row_in_bytes_(blocks.row_in_units() * blocks.unit_bytes) {}

  Choice fastest() const {
    if (typical_rows_ != 0 && typical_rows_ <= k_small_launch_units / blocks_.row_out_units()) {
      return direct(blocks_, "launches of about " + text_of(typical_rows_) + " rows move " +
                                 text_of(typical_rows_ * blocks_.row_out_units()) +
                                 " units, too few to make up for the latency of staging");
    }
    if (block_bytes_ >= 2 * k_sector_bytes) {
      return direct(blocks_, "blocks of " + text_of(block_bytes_) +
                                 " bytes move together, so that global memory is read in whole sectors");
    }
    if (block_bytes_ == k_vector_bytes && row_in_bytes_ <= k_cached_row_bytes) {
      return direct(blocks_, "blocks of 16 bytes in rows of " + text_of(row_in_bytes_) +
                                 " bytes: the two halves of a sector are used while it is cached");
    }
    if (blocks_.map.size() <= blocks_.map.source_size() * block_bytes_ / (2 * k_sector_bytes)) {
      return direct(blocks_, "the map takes " + text_of(blocks_.map.size()) + " of " +
                                 text_of(blocks_.map.source_size()) + " blocks of " + text_of(block_bytes_) +
                                 " bytes, so that staging whole rows reads more");
    }
    if (const std::optional<Staged> found = choose_staged(blocks_, limit_)) {
      if (blocks_.unit_bytes >= k_bank_bytes && gather_cycles(blocks_) >= k_many_cycles) {
        if (std::optional<Tiled> swapped = find_tiled(blocks_)) {
          return tiled(*std::move(swapped),
                       "neighbours come from the same bank of shared memory where whole rows are staged");
        }
      }
      return staged(*found);
    }
    return long_row();
  }

  Choice forced(PermuteStrategy strategy) const {
    const std::string why = "asked for";
    switch (strategy) {
      case PermuteStrategy::staged:
        if (const std::optional<Staged> found = choose_staged(blocks_, limit_)) {
          return staged(*found);
        }
        refuse("staged", "a row of " + text_of(row_in_bytes_) + " bytes does not fit in the " + text_of(limit_) +
                             " bytes of shared memory of a block, or has more than 65536 entries in its table");
      case PermuteStrategy::tiled:
        if (std::optional<Tiled> found = find_tiled(blocks_)) {
          return tiled(*std::move(found), why);
        }
        refuse("tiled", "the map does not swap axes, or leaves no runs of 32 bytes");
      case PermuteStrategy::bucketed:
        if (const std::optional<Bucketed> found = find_bucketed(blocks_, limit_)) {
          return bucketed(*found);
        }
        refuse("bucketed", "some part of the row is read by much more of the output than others, or a row of " +
                               text_of(row_in_bytes_) + " bytes is in too many segments or too few");
      default:
        return direct(blocks_, why);
    }
  }

 private:
  [[noreturn]] static void refuse(const std::string& name, const std::string& problem) {
    throw Error(ErrorCode::invalid_argument,
                "strategy is " + name + ": " + problem + "; direct moves any map, automatic chooses");
  }

  /// For a row that is not staged whole.
  Choice long_row() const {
    if (std::optional<Tiled> found = find_tiled(blocks_)) {
      return tiled(*std::move(found), "a row of " + text_of(row_in_bytes_) + " bytes is too long for shared memory");
    }
    if (blocks_.unit_bytes >= 4) {
      if (double amplification = read_amplification(blocks_); amplification <= k_little_amplification) {
        return direct(blocks_, "a row of " + text_of(row_in_bytes_) +
                                   " bytes is too long for shared memory, and neighbours are read from places so near "
                                   "each other that whole sectors are " +
                                   text_of(static_cast<std::uint64_t>(std::lround(100 * amplification))) +
                                   " % of the bytes");
      }
    }
    if (row_in_bytes_ > k_cached_row_bytes) {
      if (const std::optional<Bucketed> found = find_bucketed(blocks_, limit_)) {
        return bucketed(*found);
      }
    }
    std::uint64_t longest = std::max(blocks_.row_in_units(), blocks_.row_out_units());
    return direct(blocks_, longest > k_most_literals
                               ? "rows of " + text_of(longest) + " units need more than " + text_of(k_most_literals) +
                                     " literals in a table"
                               : "a row of " + text_of(row_in_bytes_) + " bytes does not fit in the " +
                                     text_of(limit_) + " bytes of shared memory of a block");
  }

  Choice staged(const Staged& found) const {
    return {found, "staged: tiles of " + text_of(found.rows_per_tile) + " rows of " + text_of(row_in_bytes_) +
                       " bytes are read and written in 16-byte vectors and permuted in shared memory"};
  }

  static Choice tiled(Tiled found, const std::string& why) {
    std::string reason = "tiled: the map swaps axes, so that parts of a row are read and written in runs of " +
                         text_of(found.run_bytes) + " bytes at least; " + why;
    return {std::move(found), std::move(reason)};
  }

  Choice bucketed(const Bucketed& found) const {
    return {found, "bucketed: rows of " + text_of(row_in_bytes_) +
                       " bytes, too long for the shared memory of a block, are moved in two passes over segments of " +
                       text_of(found.source_segment) + " units"};
  }

  const BlockMap& blocks_;
  std::uint64_t typical_rows_;
  unsigned limit_;
  std::uint64_t block_bytes_;
  std::uint64_t row_in_bytes_;
};

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

Choice choose(const BlockMap& blocks, const PermuteShape& shape, const Target& target) {
  const Chooser chooser(blocks, shape.typical_rows, shared_bytes_limit(target.capability()));
  return shape.strategy == PermuteStrategy::automatic ? chooser.fastest() : chooser.forced(shape.strategy);
}

}  // namespace kiln::permutation
