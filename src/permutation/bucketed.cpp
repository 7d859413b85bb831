#include "permutation/bucketed.hpp"

#include <algorithm>
#include <numeric>

#include "permutation/bucketed_runs.hpp"
#include "permutation/sizes.hpp"

namespace kiln::permutation {

namespace {

constexpr std::uint64_t k_most_offsets = 65'536;       // that 16 bits tell apart
constexpr std::uint64_t k_most_segments = 1024;        // more, and the runs are hardly longer than their padding
constexpr std::uint64_t k_relay_row_bytes = 4 << 20;   // rows that stay in the L2 cache on their way
constexpr unsigned k_relay_shared_limit = 227 * 1024;  // of devices with that much: measured on no others

std::uint64_t units_of_vector(const BlockMap& blocks) noexcept { return k_vector_bytes / blocks.unit_bytes; }

/// Segments of at most `most` units, all but the last of one size, as few as can be.
std::uint64_t even_segment(std::uint64_t row_units, std::uint64_t most, std::uint64_t units) noexcept {
  return std::min(round_up(divide_up(row_units, divide_up(row_units, most)), units), most);
}

/// Vectors that `runs` runs of `units` units in all take at most.
std::uint64_t most_vectors(std::uint64_t units, std::uint64_t runs, std::uint64_t units_of_vector) noexcept {
  return (units + std::min(runs, units) * (units_of_vector - 1)) / units_of_vector;
}

/// Vectors of the longest list of runs out of a source segment.
std::uint64_t longest_out(const SegmentedMap& map, std::uint64_t units_of_vector) {
  std::vector<std::uint64_t> vectors(map.sources());
  for (std::uint64_t target = 0; target < map.targets(); ++target) {
    const std::vector<std::uint64_t> units = map.run_units(target);
    for (std::uint64_t source = 0; source < vectors.size(); ++source) {
      vectors[source] += divide_up(units[source], units_of_vector);
    }
  }
  return *std::max_element(vectors.begin(), vectors.end());
}

}  // namespace

BucketedSizes::BucketedSizes(const BlockMap& blocks, const Bucketed& bucketed) noexcept
    : units(units_of_vector(blocks)),
      sources(divide_up(blocks.row_in_units(), bucketed.source_segment)),
      targets(divide_up(blocks.row_out_units(), bucketed.target_segment)),
      in_counts(sources),
      out_offsets(round_up(sources + targets, 4)),
      addresses(out_offsets + round_up(sources * bucketed.out_vectors * units, 8) / 2),
      in_offsets(addresses + round_up(targets * bucketed.in_vectors, 4)),
      table_words(in_offsets + round_up(targets * bucketed.target_segment, 8) / 2),
      scratch_row_bytes(sources * bucketed.out_vectors * k_vector_bytes),
      out_shared_bytes(static_cast<unsigned>(bucketed.source_segment * blocks.unit_bytes + k_vector_bytes)),
      in_shared_bytes(static_cast<unsigned>(bucketed.in_vectors * k_vector_bytes)) {}

std::optional<Bucketed> bucketed_with(const BlockMap& blocks, std::uint64_t segment, unsigned threads) {
  const std::uint64_t units = units_of_vector(blocks);
  const std::uint64_t row_in = blocks.row_in_units();
  const std::uint64_t row_out = blocks.row_out_units();
  // Where units are read more than once, a source segment gives more than it holds: it is made shorter, so that it
  // gives as much as a target segment takes.
  const std::uint64_t source_most =
      row_in < row_out ? std::max(segment * row_in / row_out / units, std::uint64_t{1}) * units : segment;
  Bucketed result;
  result.source_segment = even_segment(row_in, source_most, units);
  result.target_segment = even_segment(row_out, segment, units);
  result.threads = threads;
  result.resident = 1;
  const SegmentedMap map(blocks, result.source_segment, result.target_segment);
  if (std::max(map.sources(), map.targets()) > k_most_segments) {
    return std::nullopt;
  }
  result.in_vectors = most_vectors(result.target_segment, map.sources(), units);
  // So much a source segment of a permutation gives at most. Where one gives more, so much room is made that maps which
  // differ little share a kernel still.
  const std::uint64_t share = divide_up(row_out * result.source_segment, row_in);
  const std::uint64_t fair = most_vectors(std::max(result.source_segment, share), map.targets(), units);
  const std::uint64_t longest = longest_out(map, units);
  result.out_vectors = longest <= fair ? fair : round_up(longest, threads);
  if (longest > 2 * fair || result.in_vectors * units > k_most_offsets) {
    return std::nullopt;
  }
  return result;
}

std::optional<Bucketed> find_bucketed(const BlockMap& blocks, unsigned shared_limit) {
  if (std::max(blocks.row_in_units(), blocks.row_out_units()) >= std::uint64_t{1} << 31) {
    return std::nullopt;
  }
  // A vector of narrow units has more offsets for a thread to hold: they have to be in fewer vectors.
  const std::uint64_t most_bytes = blocks.unit_bytes == 1 ? 16 * 1024 : blocks.unit_bytes == 2 ? 32 * 1024 : 128 * 1024;
  auto with = [&](std::uint64_t segment_bytes, unsigned threads) {
    return bucketed_with(blocks, std::min(segment_bytes, most_bytes) / blocks.unit_bytes, threads);
  };
  const std::uint64_t row_bytes = std::max(blocks.row_in_units(), blocks.row_out_units()) * blocks.unit_bytes;
  std::optional<Bucketed> result;
  if (shared_limit < k_relay_shared_limit) {
    result = shared_limit < 96 * 1024 ? with(32 * 1024, 512) : with(64 * 1024, 512);
  } else if (row_bytes > k_relay_row_bytes) {
    result = with(128 * 1024, blocks.unit_bytes < 4 ? 512 : 1024);
  } else {
    result = with(64 * 1024, 512);
    if (result) {
      result->relay = true;
      result->resident = 2;
    }
  }
  if (result) {
    const BucketedSizes sizes(blocks, *result);
    if (std::max(sizes.out_shared_bytes, sizes.in_shared_bytes) > shared_limit) {
      return std::nullopt;
    }
  }
  return result;
}

std::vector<std::uint32_t> bucketed_table(const BlockMap& blocks, const Bucketed& bucketed) {
  const BucketedSizes sizes(blocks, bucketed);
  const SegmentedMap map(blocks, bucketed.source_segment, bucketed.target_segment);
  std::vector<std::uint32_t> table(sizes.table_words);
  auto set_half = [&](std::uint64_t part, std::uint64_t entry, std::uint64_t value) {
    table[part + entry / 2] |= static_cast<std::uint32_t>(value) << (entry % 2 * 16);
  };
  std::vector<std::uint64_t> out(sizes.sources);  // vectors so far of each source segment's runs
  std::vector<std::uint64_t> out_unit(sizes.sources);
  std::vector<std::uint64_t> in_unit(sizes.sources);
  for (std::uint64_t target = 0; target < sizes.targets; ++target) {
    const std::vector<std::uint64_t> run_units = map.run_units(target);
    std::uint64_t in = 0;  // vectors so far of the runs to this target
    for (std::uint64_t source = 0; source < sizes.sources; ++source) {
      out_unit[source] = (source * bucketed.out_vectors + out[source]) * sizes.units;
      in_unit[source] = in * sizes.units;
      for (std::uint64_t left = divide_up(run_units[source], sizes.units); left > 0; --left, ++in, ++out[source]) {
        table[sizes.addresses + target * bucketed.in_vectors + in] =
            static_cast<std::uint32_t>(source * bucketed.out_vectors + out[source]);
      }
    }
    table[sizes.in_counts + target] = static_cast<std::uint32_t>(in);
    map.for_each(target, [&](std::uint64_t unit, std::uint64_t source, std::uint64_t from) {
      set_half(sizes.out_offsets, out_unit[source]++, from);
      set_half(sizes.in_offsets, target * bucketed.target_segment + unit, in_unit[source]++);
    });
  }
  std::transform(out.begin(), out.end(), table.begin(),
                 [](std::uint64_t vectors) { return static_cast<std::uint32_t>(vectors); });
  return table;
}

}  // namespace kiln::permutation
