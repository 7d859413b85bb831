#include "permutation/bucketed.hpp"

#include <algorithm>
#include <numeric>

#include "permutation/bucketed_runs.hpp"
#include "permutation/sizes.hpp"

namespace kiln::permutation {

namespace {

constexpr std::uint64_t k_most_offsets = 65'536;       // that 16 bits tell apart
constexpr std::uint64_t k_most_segments = 1024;        // more, and the runs are hardly longer than their padding
constexpr std::uint64_t k_relay_bytes = 4 << 20;       // of bundles that stay in the L2 cache on their way
constexpr unsigned k_relay_shared_limit = 227 * 1024;  // of devices with that much: measured on no others

/// Segments of `segment` units, all but the last of one size, as few as can be; a sixteenth longer if one is saved so.
std::uint64_t even_segment(std::uint64_t row_units, std::uint64_t segment, std::uint64_t units) noexcept {
  const std::uint64_t whole = row_units / segment;
  const bool stretches = row_units % segment <= whole * (segment / 16 / units * units);
  return round_up(divide_up(row_units, stretches ? whole : whole + 1), units);
}

/// Vectors that `runs` runs of `words` words in all take at most.
std::uint64_t most_vectors(std::uint64_t words, std::uint64_t runs, std::uint64_t words_of_vector) noexcept {
  return (words + std::min(runs, words) * (words_of_vector - 1)) / words_of_vector;
}

/// Vectors of the longest list of runs out of a source segment.
std::uint64_t longest_out(const SegmentedMap& map, std::uint64_t words_of_vector) {
  std::vector<std::uint64_t> vectors(map.sources());
  for (std::uint64_t target = 0; target < map.targets(); ++target) {
    const std::vector<std::uint64_t> units = map.run_units(target);
    for (std::uint64_t source = 0; source < vectors.size(); ++source) {
      vectors[source] += divide_up(units[source], words_of_vector);
    }
  }
  return std::ranges::max(vectors);
}

/// Rows whose units make a word of 4 bytes; fewer where there are fewer.
unsigned lanes_for(const BlockMap& blocks, std::uint64_t typical_rows) noexcept {
  unsigned lanes = blocks.unit_bytes < 4 ? 4 / blocks.unit_bytes : 1;
  while (typical_rows != 0 && lanes > typical_rows) {
    lanes /= 2;
  }
  return lanes;
}

}  // namespace

BucketedSizes::BucketedSizes(const BlockMap& blocks, const Bucketed& bucketed) noexcept
    : words(k_vector_bytes / (std::uint64_t{bucketed.lanes} * blocks.unit_bytes)),
      sources(divide_up(blocks.row_in_units(), bucketed.source_segment)),
      targets(divide_up(blocks.row_out_units(), bucketed.target_segment)),
      in_counts(sources),
      out_offsets(round_up(sources + targets, 4)),
      addresses(out_offsets + round_up(sources * bucketed.out_vectors * words, 8) / 2),
      in_offsets(addresses + round_up(targets * bucketed.in_vectors, 4)),
      table_words(in_offsets + round_up(targets * bucketed.target_segment, 8) / 2),
      scratch_bundle_bytes(sources * bucketed.out_vectors * k_vector_bytes),
      out_shared_bytes(static_cast<unsigned>(bucketed.source_segment * bucketed.lanes * blocks.unit_bytes +
                                             (bucketed.lanes == 1 ? k_vector_bytes : 0))),
      in_shared_bytes(static_cast<unsigned>(bucketed.in_vectors * k_vector_bytes)) {}

std::optional<Bucketed> bucketed_with(const BlockMap& blocks, std::uint64_t segment, unsigned threads, unsigned lanes) {
  const std::uint64_t units = k_vector_bytes / blocks.unit_bytes;  // of a vector of x or y
  const std::uint64_t words = units / lanes;
  const std::uint64_t row_in = blocks.row_in_units();
  const std::uint64_t row_out = blocks.row_out_units();
  // Where units are read more than once, a source segment gives more than it holds: it is made shorter, so that it
  // gives as much as a target segment takes.
  const std::uint64_t source =
      row_in < row_out ? std::max(segment * row_in / row_out / units, std::uint64_t{1}) * units : segment;
  Bucketed result;
  result.lanes = lanes;
  result.source_segment = even_segment(row_in, source, units);
  result.target_segment = even_segment(row_out, segment, units);
  result.threads = threads;
  result.batch = lanes;  // with two lanes a vector takes more registers to put together, and there are no more of them
  result.resident = 1;
  const SegmentedMap map(blocks, result.source_segment, result.target_segment);
  if (std::max(map.sources(), map.targets()) > k_most_segments) {
    return std::nullopt;
  }
  result.in_vectors = most_vectors(result.target_segment, map.sources(), words);
  // So much a source segment of a permutation gives at most. Where one gives more, so much room is made that maps which
  // differ little share a kernel still.
  const std::uint64_t share = divide_up(row_out * result.source_segment, row_in);
  const std::uint64_t fair = most_vectors(std::max(result.source_segment, share), map.targets(), words);
  const std::uint64_t longest = longest_out(map, words);
  result.out_vectors = longest <= fair ? fair : round_up(longest, threads);
  if (longest > 2 * fair || result.in_vectors * words > k_most_offsets) {
    return std::nullopt;
  }
  return result;
}

std::optional<Bucketed> find_bucketed(const BlockMap& blocks, unsigned shared_limit, std::uint64_t typical_rows) {
  if (std::max(blocks.row_in_units(), blocks.row_out_units()) >= std::uint64_t{1} << 31) {
    return std::nullopt;
  }
  const unsigned lanes = lanes_for(blocks, typical_rows);
  const unsigned word_bytes = lanes * blocks.unit_bytes;
  // A vector of narrow words has more offsets for a thread to hold: they have to be in fewer vectors.
  const std::uint64_t most_bytes = word_bytes == 1 ? 16 * 1024 : word_bytes == 2 ? 32 * 1024 : 128 * 1024;
  auto with = [&](std::uint64_t segment_bytes, unsigned threads) {
    return bucketed_with(blocks, std::min(segment_bytes, most_bytes) / word_bytes, threads, lanes);
  };
  const std::uint64_t bundle_bytes = std::max(blocks.row_in_units(), blocks.row_out_units()) * word_bytes;
  std::optional<Bucketed> result;
  if (shared_limit < k_relay_shared_limit) {
    result = shared_limit < 96 * 1024 ? with(32 * 1024, 512) : with(64 * 1024, 512);
  } else if (bundle_bytes > k_relay_bytes) {
    result = with(128 * 1024, word_bytes < 4 ? 512 : 1024);
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
      out_unit[source] = (source * bucketed.out_vectors + out[source]) * sizes.words;
      in_unit[source] = in * sizes.words;
      for (std::uint64_t left = divide_up(run_units[source], sizes.words); left > 0; --left, ++in, ++out[source]) {
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
  std::ranges::transform(out, table.begin(), [](std::uint64_t vectors) { return static_cast<std::uint32_t>(vectors); });
  return table;
}

}  // namespace kiln::permutation
