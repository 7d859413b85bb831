#include "permutation/cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "permutation/locality.hpp"
#include "permutation/shared_banks.hpp"
#include "permutation/sizes.hpp"

// The model, and where its constants come from: an H200 with 132 multiprocessors, on which the driver copies at 4.2
// TB/s, reads and writes counted. docs/performance.md has the figures. For the random maps measured there the speed
// comes out within 16 % of what was measured, within 6 % on average; tests/unit/permutation/cost_test.cpp holds that.
// So it does for maps that swap axes, tiled. Other devices are taken to be alike but for the size of their shared
// memory: what counts is which strategy is faster, and by how much.
//
//   memory  (bytes read + bytes written) / (2 * bytes of y), times 0.96: a kernel is a little faster than the driver.
//           Direct reads each sector of 32 bytes once a warp. Those whose rows stay in the cache of a multiprocessor
//           come from there, of others nearly all come from the L2 cache, and of rows that do not fit there either
//           warps read the pieces of 64 bytes that memory hands out.
//   shared  A multiprocessor's share of memory brings it 128 bytes of x and takes 128 of y in about 15 cycles. In that
//           time shared memory has to take the one and to gather the other: a cycle for 32 words in 32 banks, more
//           where they are in each other's way.
//   issue   Direct takes about as many instructions for a unit of any size: as long as 5.6 bytes of a copy. Putting
//           vectors together from two, interleaving lanes, exchanging units, finding digits and gathering single bytes
//           take some as well.
//   table   Bytes of index for each byte, where they do not stay in the cache of a multiprocessor.
//   tile    The larger a tile is beside shared memory, the fewer there are at once. One alone that is not filled
//           asynchronously is first filled, then emptied.
//
// Launches that are small: the latency of the launch, with tensors that are in the L2 cache, on as many multiprocessors
// as there are blocks.
namespace kiln::permutation {

namespace {

constexpr double k_table_cache_bytes = 8 * 1024;  // beside rows and tables of so many, half of what is read is cached
constexpr std::uint64_t k_l2_bytes = std::uint64_t{32} << 20;  // of one tensor that stays there
constexpr double k_kernel_memory = 0.96;
constexpr double k_l2_share = 0.85;  // of memory's time, for a sector that is in the L2 cache
constexpr double k_shared_cycles = 15;
constexpr double k_bank_row_bytes = 128;
constexpr double k_direct_bytes = 5.6;
constexpr double k_index_share = 0.8;
constexpr double k_lanes_issue = 0.28;
constexpr double k_moved_issue = 0.45;        // a lane, where vectors are put together from two
constexpr double k_moved_lanes_issue = 0.85;  // several lanes
constexpr double k_spread_issue = 0.34;       // several lanes that are alike, of two bytes; of single bytes twice as
                                              // much, three times with two lanes
constexpr double k_digits_bytes = 1.0;        // a vector of a side of a tile that is made of digits,
constexpr double k_digits_narrow = 2.0;       // if it is shorter than a word
constexpr double k_tile_narrow_bytes = 0.3;   // units of 1 and 2 bytes in such a tile
constexpr double k_tile_shared = 0.3;
constexpr double k_exchange_issue = 0.3;         // units that change places in registers
constexpr double k_exchange_moved_issue = 0.35;  // where vectors are put together besides
constexpr double k_merged = 4.5;                 // a sector of which a run writes a part
constexpr double k_narrow_bytes = 1.1;           // units of 1 and 2 bytes that are gathered one by one
constexpr double k_tile = 0.4;
constexpr double k_tile_half = 0.09;  // of shared memory: a tile of so much has half of that
constexpr double k_alone_filled_first = 0.9;
constexpr double k_split_memory = 1.1;  // of each of two launches
constexpr double k_relay_memory = 0.80;
constexpr double k_relay_memory_mb = 0.055;  // more, for each MB of a row

constexpr double k_multiprocessors = 132;
constexpr double k_alone_share = 3;  // of memory, that one multiprocessor can have beside its own
constexpr double k_copy_bytes_per_us = 4.2e6;
constexpr double k_copy_latency_us = 1.03;
constexpr double k_direct_latency_us = 1.17;
constexpr double k_staged_latency_us = 2.0;
constexpr double k_l2_speed = 1.8;  // of memory's

struct Part {
  double PassCost::* part;
  const char* name;
};
constexpr std::array<Part, 5> k_parts{{{&PassCost::memory, "memory traffic"},
                                       {&PassCost::shared, "shared memory"},
                                       {&PassCost::issue, "instructions"},
                                       {&PassCost::table, "the table"},
                                       {&PassCost::tile, "few tiles at once"}}};

double bytes_of(std::uint64_t units, const BlockMap& blocks) noexcept {
  return static_cast<double>(units) * blocks.unit_bytes;
}

/// Of what is read again and again, `bytes` in all: how much the cache of a multiprocessor misses.
double missed(double bytes) noexcept { return bytes / (bytes + k_table_cache_bytes); }

double squared(double value) noexcept { return value * value; }

Cost cost_for(const BlockMap& blocks) {
  Cost cost;
  cost.row_out_bytes = bytes_of(blocks.row_out_units(), blocks);
  cost.row_bytes = bytes_of(blocks.row_in_units(), blocks) + cost.row_out_bytes;
  return cost;
}

/// Bytes of x for each byte of y where whole rows are read.
double whole_rows(const BlockMap& blocks) noexcept {
  return static_cast<double>(blocks.row_in_units()) / static_cast<double>(blocks.row_out_units());
}

/// Cycles for 128 bytes of y, gathered as words, and of x, written; of what there is time for.
double gather(double cycles, double word_bytes, double read) noexcept {
  return (cycles * std::max(1.0, 4 / word_bytes) + read) / k_shared_cycles;
}

/// A tile beside shared memory of `limit` bytes, of which each block takes 1 KiB more than it asks for.
double tile_part(double bytes, double limit, bool filled_first) noexcept {
  const double part = bytes / limit;
  const bool alone = 2 * (bytes + 1024) > limit + 1024;
  return std::hypot(k_tile * part / (part + k_tile_half), alone && filled_first ? k_alone_filled_first : 0.0);
}

double digits_issue(double vector_bytes) noexcept {
  return vector_bytes < 4 ? k_digits_narrow : k_digits_bytes / vector_bytes;
}

Cost direct_cost(unsigned index_bits, unsigned threads, const BlockMap& blocks) {
  Cost cost = cost_for(blocks);
  const double row_in_bytes = cost.row_bytes - cost.row_out_bytes;
  const double once = read_share(blocks);
  const double read = row_in_bytes > static_cast<double>(k_l2_bytes)
                          ? std::max(once, read_amplification(blocks, k_piece_bytes))
                          : once + std::max(0.0, k_l2_share * read_amplification(blocks) - once) * missed(row_in_bytes);
  const double index_bytes = index_bits / 8.0;
  PassCost pass;
  pass.memory = k_kernel_memory * (read + 1) / 2;
  pass.issue = k_direct_bytes / blocks.unit_bytes;
  pass.table =
      k_index_share * index_bytes / blocks.unit_bytes * missed(index_bytes * static_cast<double>(blocks.map.size()));
  cost.passes = {pass};
  cost.latency_us = k_direct_latency_us;
  cost.blocks_per_row = static_cast<double>(blocks.row_out_units()) / threads;
  return cost;
}

struct Coster {
  const BlockMap& blocks;
  double limit;

  Cost operator()(const Direct& direct) const { return direct_cost(direct.index_bits, direct.threads, blocks); }
  Cost operator()(const DirectData& direct) const { return direct_cost(32, direct.threads, blocks); }

  Cost operator()(const Staged& staged) const {
    Cost cost = cost_for(blocks);
    const double read = whole_rows(blocks);
    const bool is_moved = staged.period_rows * blocks.row_out_units() * blocks.unit_bytes % 16 != 0;
    PassCost pass;
    pass.memory = k_kernel_memory * (read + 1) / 2;
    pass.shared =
        gather(gather_cycles(blocks, staged.lanes, WordOrder::swizzled), staged.lanes * blocks.unit_bytes, read);
    pass.issue = std::hypot(staged.lanes > 1 ? k_lanes_issue : 0.0, !is_moved           ? 0.0
                                                                    : staged.lanes == 1 ? k_moved_issue
                                                                                        : k_moved_lanes_issue);
    pass.tile = tile_part(shared_bytes(staged, blocks), limit, !staged.asynchronous);
    cost.passes = {pass};
    cost.latency_us = k_staged_latency_us;
    cost.blocks_per_row = 1.0 / staged.rows_per_tile;
    return cost;
  }

  Cost operator()(const Rows& rows) const {
    Cost cost = cost_for(blocks);
    const double read = whole_rows(blocks);
    PassCost pass;
    pass.memory = k_kernel_memory * (read + 1) / 2;
    pass.shared = gather(gather_cycles(blocks, rows.lanes, WordOrder::swizzled), rows.lanes * blocks.unit_bytes, read);
    pass.issue = k_spread_issue * (blocks.unit_bytes == 2 ? 1 : rows.lanes == 4 ? 2 : 3);
    pass.tile = tile_part(static_cast<double>(shared_bytes(rows, dense_rows(blocks))), limit, !rows.asynchronous);
    cost.passes = {pass};
    cost.latency_us = k_staged_latency_us;
    cost.blocks_per_row = 1.0 / (rows.line_rows * rows.lanes * rows.lane_lines);
    return cost;
  }

  Cost operator()(const Channels& channels) const {
    Cost cost = cost_for(blocks);
    const bool is_moved = !channels.has_whole_vectors(blocks.unit_bytes);
    const double plane_bytes = bytes_of(channels.plane, blocks);
    // A block's threads put vectors of y together from each other's.
    const double run_bytes =
        is_moved && !channels.to_pixels ? static_cast<double>(channels.threads * k_vector_bytes) : plane_bytes;
    const bool cuts_sectors = std::fmod(plane_bytes, k_sector_bytes) != 0;
    const double end = cuts_sectors ? k_sector_bytes / (run_bytes + k_sector_bytes) : 0.0;
    PassCost pass;
    pass.memory = k_kernel_memory * (1 + end * (channels.to_pixels ? 1 : k_merged) / 2);
    pass.issue = is_moved ? k_exchange_moved_issue : k_exchange_issue;
    pass.tile = tile_part(shared_bytes(channels), limit, /*filled_first=*/false);
    cost.passes = {pass};
    cost.latency_us = k_staged_latency_us;
    cost.blocks_per_row = plane_bytes * static_cast<double>(channels.images) / (k_vector_bytes * channels.threads);
    return cost;
  }

  Cost operator()(const Tiled& tiled) const {
    Cost cost = cost_for(blocks);
    const auto units = static_cast<double>(
        std::accumulate(tiled.load.digits.begin(), tiled.load.digits.end(), std::uint64_t{1},
                        [](std::uint64_t places, const TileDigit& digit) { return places * digit.extent; }));
    const double load_bytes = bytes_of(tiled.load.units, blocks);
    const double store_bytes = bytes_of(tiled.store.units, blocks);
    // A run that begins between two sectors is in one more; where it is written, memory has to merge both.
    const double end = 32 / (static_cast<double>(tiled.run_bytes) + 32);
    const double over = (load_bytes < k_vector_bytes ? end : 0) + (store_bytes < k_vector_bytes ? k_merged * end : 0);
    const auto cycles = static_cast<double>(
        bank_cycles(tiled.load, blocks.unit_bytes, shared_piece_bytes(tiled.load, blocks.unit_bytes)) +
        bank_cycles(tiled.store, blocks.unit_bytes, blocks.unit_bytes));
    PassCost pass;
    pass.memory = k_kernel_memory * (1 + over / 2);
    pass.shared = k_tile_shared * cycles / (units * blocks.unit_bytes / k_bank_row_bytes) / k_shared_cycles;
    pass.issue = digits_issue(load_bytes) + digits_issue(store_bytes) +
                 (blocks.unit_bytes < 4 ? k_tile_narrow_bytes / blocks.unit_bytes : 0);
    pass.tile = tile_part(tiled.shared_bytes, limit, /*filled_first=*/false);
    cost.passes = {pass};
    cost.latency_us = k_staged_latency_us;
    cost.blocks_per_row = static_cast<double>(tiled.tiles());
    return cost;
  }

  Cost operator()(const Bucketed& bucketed) const {
    Cost cost = cost_for(blocks);
    const BucketedSizes sizes(blocks, bucketed);
    const unsigned word_bytes = bucketed.lanes * blocks.unit_bytes;
    const double bundle_bytes = bucketed.lanes * cost.row_out_bytes;
    const double padded = static_cast<double>(sizes.scratch_bundle_bytes) / bundle_bytes;
    const double memory =
        bucketed.relay ? k_relay_memory + k_relay_memory_mb * bundle_bytes / (1 << 20) : k_split_memory;
    const double words = std::hypot(word_bytes < 4 ? k_narrow_bytes / word_bytes : 0.0,  //
                                    bucketed.lanes > 1 ? k_lanes_issue : 0.0);
    const auto issue = [&](std::uint64_t row_units, double moved) {
      return std::hypot(words, row_units * blocks.unit_bytes % k_vector_bytes == 0 ? 0.0 : moved);
    };
    // Within a segment units are as far apart as in the row, in the second pass those of a run are near each other.
    const double cycles = gather_cycles(blocks, bucketed.lanes, WordOrder::plain);
    PassCost split;
    split.memory = memory * (whole_rows(blocks) + padded) / 2;
    split.shared = gather(cycles, word_bytes, whole_rows(blocks));
    // One lane is read as it is.
    split.issue = issue(blocks.row_in_units(), bucketed.lanes > 1 ? k_moved_issue : 0.0);
    split.tile = tile_part(sizes.out_shared_bytes, limit, /*filled_first=*/false);
    PassCost join;
    join.memory = memory * (padded + 1) / 2;
    join.shared = gather(std::min(cycles, 4.0), word_bytes, padded);
    join.issue = issue(blocks.row_out_units(), k_moved_issue);
    join.tile = tile_part(sizes.in_shared_bytes, limit, /*filled_first=*/false);
    cost.passes = {split, join};
    cost.latency_us = 2 * k_staged_latency_us;
    cost.blocks_per_row = static_cast<double>(sizes.sources) / bucketed.lanes;
    return cost;
  }
};

/// The pass as a part of a launch that uses `busy` of the device's multiprocessors on tensors of which `cached` is in
/// the L2 cache.
PassCost in_launch(PassCost pass, double busy, double cached) noexcept {
  pass.memory *= (cached / k_l2_speed + 1 - cached) / std::min(1.0, k_alone_share * busy);
  for (double PassCost::* part : {&PassCost::shared, &PassCost::issue, &PassCost::table}) {
    pass.*part /= busy;
  }
  return pass;
}

struct Launch {
  double copy_us = 0;  ///< of the bytes at memory's speed, without the latency
  double cached = 0;
  double busy = 1;
};

Launch launch_of(const Cost& cost, std::uint64_t rows) noexcept {
  const auto count = static_cast<double>(rows);
  return {2 * cost.row_out_bytes * count / k_copy_bytes_per_us,
          std::min(1.0, static_cast<double>(k_l2_bytes) / (cost.row_bytes * count)),
          std::clamp(cost.blocks_per_row * count / k_multiprocessors, 1 / k_multiprocessors, 1.0)};
}

std::vector<PassCost> passes_of(const Cost& cost, std::uint64_t rows) {
  std::vector<PassCost> passes = cost.passes;
  if (rows != 0) {
    const Launch launch = launch_of(cost, rows);
    std::ranges::transform(passes, passes.begin(),
                           [&](const PassCost& pass) { return in_launch(pass, launch.busy, launch.cached); });
  }
  return passes;
}

double total_of(const std::vector<PassCost>& passes) {
  return std::accumulate(passes.begin(), passes.end(), 0.0,
                         [](double total, const PassCost& pass) { return total + pass.total(); });
}

}  // namespace

double PassCost::total() const noexcept {
  return std::sqrt(squared(memory) + squared(shared) + squared(issue) + squared(table) + squared(tile));
}

double Cost::microseconds(std::uint64_t rows) const {
  return latency_us + launch_of(*this, rows).copy_us * total_of(passes_of(*this, rows));
}

double Cost::speed(std::uint64_t rows) const {
  if (rows == 0) {
    return 1 / total_of(passes);
  }
  const Launch launch = launch_of(*this, rows);
  const double copy_us = k_copy_latency_us + launch.copy_us * (launch.cached / k_l2_speed + 1 - launch.cached);
  return copy_us / microseconds(rows);
}

std::string Cost::limit(std::uint64_t rows) const {
  const std::vector<PassCost> in_time = passes_of(*this, rows);
  if (rows != 0 && latency_us > launch_of(*this, rows).copy_us * total_of(in_time)) {
    return "the latency of a launch";
  }
  const auto sum_of = [&](const Part& part) {
    return std::accumulate(in_time.begin(), in_time.end(), 0.0,
                           [&](double sum, const PassCost& pass) { return sum + pass.*part.part; });
  };
  return std::ranges::max_element(k_parts, {}, sum_of)->name;
}

Cost cost_of(const Strategy& strategy, const BlockMap& blocks, unsigned shared_limit) {
  return std::visit(Coster{blocks, static_cast<double>(shared_limit)}, strategy);
}

}  // namespace kiln::permutation
