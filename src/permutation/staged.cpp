#include "permutation/staged.hpp"

#include <algorithm>
#include <numeric>

#include "permutation/index_table.hpp"
#include "permutation/sizes.hpp"
#include "permutation/unit_type.hpp"

namespace kiln::permutation {

namespace {

constexpr std::uint64_t k_bank_row_bytes = 128;                // all banks once: what vectors change places within
constexpr std::uint64_t k_most_entries = 65'536;               // that 16 bits tell apart
constexpr std::uint64_t k_lane_bytes = 4 * 1024;               // of a tile of short rows, about
constexpr std::uint64_t k_most_period_bytes = 16 * 1024;       // for the sake of whole vectors; half for wide units
constexpr std::uint64_t k_most_interleaved_bytes = 72 * 1024;  // of a tile, so that three share a multiprocessor
constexpr std::uint64_t k_asynchronous_bytes = 64 * 1024;      // of a tile; measured slower below
constexpr std::uint64_t k_alone_bytes = 113 * 1024;            // of a tile that has a multiprocessor of sm_90 to itself
constexpr std::uint64_t k_put_together = 31;  // vectors that a warp writes at once between the vectors of a lane
constexpr std::uint64_t k_most_threads = 1024;

std::uint64_t row_in_bytes(const BlockMap& blocks) noexcept { return blocks.row_in_units() * blocks.unit_bytes; }
std::uint64_t row_out_bytes(const BlockMap& blocks) noexcept { return blocks.row_out_units() * blocks.unit_bytes; }

/// The rows after which input and output are whole vectors again.
std::uint64_t whole_rows(const BlockMap& blocks) noexcept {
  return k_vector_bytes / std::gcd(std::gcd(row_in_bytes(blocks), row_out_bytes(blocks)), k_vector_bytes);
}

std::uint64_t tile_bytes(std::uint64_t lanes, std::uint64_t lane_rows, const BlockMap& blocks) noexcept {
  const std::uint64_t bytes = lane_rows * row_in_bytes(blocks);
  const std::uint64_t vectors = round_up(bytes, k_vector_bytes);
  // Lanes that are equally far from a vector's start are there as they are: they start anywhere in their first vector.
  const bool are_alike = lanes == 1 || bytes == vectors;
  return round_up(lanes == 1 ? bytes + k_vector_bytes - 1 : lanes * (vectors + (are_alike ? k_vector_bytes : 0)),
                  k_bank_row_bytes);
}

struct Lanes {
  std::uint64_t count;
  std::uint64_t period_rows;
  std::uint64_t periods = 1;
};

/// Of a period.
std::uint64_t out_vectors(const Lanes& lanes, const BlockMap& blocks) noexcept {
  return divide_up(lanes.period_rows * row_out_bytes(blocks), k_vector_bytes);
}
std::uint64_t in_vectors(const Lanes& lanes, const BlockMap& blocks) noexcept {
  return divide_up(lanes.period_rows * row_in_bytes(blocks), k_vector_bytes);
}

bool makes_whole_vectors(const Lanes& lanes, const BlockMap& blocks) noexcept {
  return lanes.period_rows * row_out_bytes(blocks) % k_vector_bytes == 0;
}

bool fits(const Lanes& lanes, const BlockMap& blocks, std::uint64_t limit) noexcept {
  return tile_bytes(lanes.count, lanes.period_rows * lanes.periods, blocks) <= limit &&
         lanes.period_rows * std::max(blocks.row_in_units(), blocks.row_out_units()) <= k_most_entries;
}

/// A period of whole vectors where that is not much larger than a lane has to be, else the rows that make such a lane.
Lanes lanes_of(std::uint64_t count, const BlockMap& blocks) noexcept {
  const std::uint64_t row = std::max(row_in_bytes(blocks), row_out_bytes(blocks));
  const std::uint64_t whole = whole_rows(blocks);
  const std::uint64_t most = blocks.unit_bytes >= 4 ? k_most_period_bytes / 2 : k_most_period_bytes;
  // Four lanes of bytes are worth longer ones where vectors have to be put together.
  const std::uint64_t lane = count == 4 ? 2 * k_lane_bytes : k_lane_bytes;
  return {count, whole * row <= most ? whole : std::clamp((lane + row / 2) / row, std::uint64_t{1}, whole)};
}

/// Bytes and halves are moved four and two rows at a time where that leaves room for other blocks, bytes of long rows
/// two rows at a time wherever they fit; halves only in whole vectors, without which one row at a time was faster.
std::optional<Lanes> choose_lanes(const BlockMap& blocks, std::uint64_t limit) noexcept {
  const std::uint64_t most = 4 / std::min(blocks.unit_bytes, 4U);
  for (std::uint64_t count = most; count > 1; count /= 2) {
    const std::uint64_t room = blocks.unit_bytes == 1 && count == 2 ? limit : std::min(limit, k_most_interleaved_bytes);
    const Lanes lanes = lanes_of(count, blocks);
    if (fits(lanes, blocks, room) && (blocks.unit_bytes == 1 || makes_whole_vectors(lanes, blocks))) {
      return lanes;
    }
  }
  for (Lanes lanes : {lanes_of(1, blocks), Lanes{1, 1}}) {
    if (fits(lanes, blocks, limit)) {
      return lanes;
    }
  }
  return std::nullopt;
}

bool is_alone(const Lanes& lanes, const BlockMap& blocks) noexcept {
  return tile_bytes(lanes.count, lanes.period_rows * lanes.periods, blocks) > k_alone_bytes;
}

/// Filled asynchronously: long tiles, and those of halves from where vectors have to be put together.
bool is_asynchronous(const Lanes& lanes, const BlockMap& blocks) noexcept {
  const std::uint64_t bytes = lanes.period_rows * lanes.periods * row_in_bytes(blocks);
  const bool is_odd = blocks.unit_bytes == 2 && !makes_whole_vectors(lanes, blocks);
  return lanes.count == 1 && bytes > (is_odd ? k_asynchronous_bytes / 2 : k_asynchronous_bytes);
}

/// For how many threads a multiprocessor's registers are to do: the fewer registers, the more threads; small units, and
/// vectors that are put together, take more registers.
unsigned resident_threads(const Lanes& lanes, const BlockMap& blocks) noexcept {
  constexpr unsigned k_few = 1024;
  constexpr unsigned k_more = 1536;
  constexpr unsigned k_all = 2048;
  const std::uint64_t bytes = tile_bytes(lanes.count, lanes.period_rows * lanes.periods, blocks);
  const bool is_whole = makes_whole_vectors(lanes, blocks);
  if (is_alone(lanes, blocks) || lanes.count == 4) {
    return k_few;
  }
  if (blocks.unit_bytes == 1) {
    return bytes <= k_most_interleaved_bytes ? k_more : k_few;
  }
  if (blocks.unit_bytes == 2) {
    if (lanes.count == 1 && !is_whole) {
      return k_all;
    }
    return is_asynchronous(lanes, blocks) || (lanes.count == 2 && bytes >= k_asynchronous_bytes) ? k_few : k_more;
  }
  return is_whole || out_vectors(lanes, blocks) <= (blocks.unit_bytes == 4 ? 2048 : 512) ? k_all : k_more;
}

Staged tile_of(const Lanes& lanes, std::uint64_t threads, const BlockMap& blocks) noexcept {
  const std::uint64_t rows = lanes.count * lanes.period_rows * lanes.periods;
  Staged staged;
  staged.index_bits = lanes.period_rows * blocks.row_in_units() <= 256 ? 8 : 16;
  staged.lanes = static_cast<unsigned>(lanes.count);
  staged.period_rows = static_cast<unsigned>(lanes.period_rows);
  staged.rows_per_tile = static_cast<unsigned>(rows);
  staged.threads = static_cast<unsigned>(threads);
  staged.resident_threads = resident_threads(lanes, blocks);
  staged.asynchronous = is_asynchronous(lanes, blocks);
  return staged;
}

/// At most `most`, so that each has as much to do as the others.
std::uint64_t threads_for(const Lanes& lanes, std::uint64_t most, const BlockMap& blocks) noexcept {
  const std::uint64_t out = out_vectors(lanes, blocks);
  const std::uint64_t in = in_vectors(lanes, blocks) * lanes.periods;
  // A thread reads four vectors at a time, or so many lanes of one.
  const std::uint64_t readers = round_up(std::min(divide_up(in, 4), most), k_warp);
  if (makes_whole_vectors(lanes, blocks) && out <= most) {
    const std::uint64_t threads = std::max(std::min(most / out, lanes.periods) * out, readers);
    // With all warps full, one more takes what a lane that starts between two vectors has more.
    const bool is_full = lanes.count == 4 && threads == out * lanes.periods && threads % k_warp == 0 && threads <= 256;
    return threads + (is_full ? k_warp : 0);
  }
  // Where vectors are put together, it takes a warp more for as many of them.
  const std::uint64_t warps = makes_whole_vectors(lanes, blocks) ? divide_up(out, k_warp) : out / k_put_together + 1;
  const std::uint64_t room = makes_whole_vectors(lanes, blocks) || lanes.count == 1 ? most : most + k_warp;
  const std::uint64_t turns = divide_up(warps * k_warp, std::min(room, k_most_threads));
  return std::max(divide_up(warps, turns) * k_warp, readers);
}

/// As many periods as make `vectors` vectors of a lane, all threads being busy the same number of times.
std::uint64_t periods_for(Lanes lanes, std::uint64_t vectors, std::uint64_t threads, const BlockMap& blocks,
                          std::uint64_t limit) noexcept {
  if (!makes_whole_vectors(lanes, blocks)) {
    return 1;
  }
  const std::uint64_t out = out_vectors(lanes, blocks);
  const std::uint64_t at_once = std::max<std::uint64_t>(threads / out, 1);
  lanes.periods = std::max<std::uint64_t>(vectors / std::max(out, in_vectors(lanes, blocks)), 1);
  if (lanes.periods > at_once) {
    lanes.periods -= lanes.periods % at_once;
  }
  while (lanes.periods > 1 && !fits(lanes, blocks, limit)) {
    --lanes.periods;
  }
  return lanes.periods;
}

/// Measured on an H200, over a thousand shapes of tiles. With one lane, two vectors a thread: blocks of 128 threads for
/// short lanes, of 512 and 1024 for longer ones; with more lanes one vector a thread, but fewer threads where vectors
/// are put together.
Staged shape_of(Lanes lanes, const BlockMap& blocks, std::uint64_t limit) noexcept {
  const std::uint64_t vectors = std::max(out_vectors(lanes, blocks), in_vectors(lanes, blocks));
  const bool is_whole = makes_whole_vectors(lanes, blocks);
  const auto tile = [&](std::uint64_t lane_vectors, std::uint64_t threads) {
    lanes.periods = periods_for(lanes, lane_vectors, threads, blocks, limit);
    return tile_of(lanes, threads_for(lanes, threads, blocks), blocks);
  };
  // More threads than are busy in the last turn, where that was faster than as many as are.
  const auto tile_of_all = [&](std::uint64_t lane_vectors, unsigned threads) {
    Staged staged = tile(lane_vectors, threads);
    staged.threads = threads;
    return staged;
  };
  if (lanes.count == 4) {
    if (lanes.period_rows > 1 && is_whole && vectors > 640) {
      return tile_of_all(512, 384);
    }
    return vectors <= 512 || !is_whole ? tile(256, 256) : tile(512, 512);
  }
  if (lanes.count == 2) {
    if (blocks.unit_bytes == 1) {
      return tile(2048, is_alone(lanes, blocks) ? k_most_threads : is_whole ? 512 : 256);
    }
    if (vectors > 256) {
      return tile_of_all(vectors <= 512 ? 512 : 1024, vectors <= 1024 ? 384 : 768);
    }
    // Very short rows are read more evenly by more threads.
    const std::uint64_t threads = vectors >= 8 && vectors <= 128 ? 128 : 256;
    return tile(threads, threads);
  }
  if (vectors <= 256) {
    return tile(256, is_whole ? 128 : 160);
  }
  if (is_alone(lanes, blocks) || (is_whole && blocks.unit_bytes >= 4 && vectors >= 480)) {
    return tile(2048, k_most_threads);
  }
  return tile(1024, is_whole && blocks.unit_bytes == 2 && !is_asynchronous(lanes, blocks) ? 768 : 512);
}

}  // namespace

std::optional<Staged> choose_staged(const BlockMap& blocks, std::uint64_t limit) {
  std::optional<Lanes> lanes = choose_lanes(blocks, limit);
  if (!lanes) {
    return std::nullopt;
  }
  return shape_of(*lanes, blocks, limit);
}

unsigned shared_bytes(const Staged& staged, const BlockMap& blocks) noexcept {
  return static_cast<unsigned>(tile_bytes(staged.lanes, staged.rows_per_tile / staged.lanes, blocks));
}

std::vector<std::uint32_t> staged_entries(const Staged& staged, const BlockMap& blocks) {
  std::vector<std::uint32_t> entries;
  entries.reserve(staged.period_rows * blocks.row_out_units() + k_vector_bytes);
  for (std::uint64_t row = 0; row < staged.period_rows; ++row) {
    for (std::uint32_t source : blocks.map.sources()) {
      for (std::uint64_t unit = 0; unit < blocks.units; ++unit) {
        std::uint64_t index = (row * blocks.map.source_size() + source) * blocks.units + unit;
        entries.push_back(static_cast<std::uint32_t>(index));
      }
    }
  }
  entries.resize(round_up(entries.size(), k_vector_bytes / blocks.unit_bytes));
  return entries;
}

PermuteRequest staged_request(const Staged& staged, const BlockMap& blocks) {
  Values values = unit_values(blocks);
  values.set("row_out", blocks.row_out_units())
      .set("row_in", blocks.row_in_units())
      .set("lanes", staged.lanes)
      .set("rows_per_tile", staged.rows_per_tile)
      .set("period_rows", staged.period_rows)
      .set("threads", staged.threads)
      .set("resident_threads", staged.resident_threads)
      .set("asynchronous", staged.asynchronous);
  const PermuteGeometry geometry{staged.threads, shared_bytes(staged, blocks), 1, staged.rows_per_tile};
  PermuteRequest request{Template::builtin("permute_staged"), std::move(values), {}, "staged", {}, {{geometry}}};
  set_table(request, staged_entries(staged, blocks), staged.index_bits);
  return request;
}

}  // namespace kiln::permutation
