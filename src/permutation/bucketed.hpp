#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "permutation/analysis.hpp"

namespace kiln::permutation {

/// Rows that no block's shared memory holds, in two passes over segments of them. The first gathers each segment of a
/// source row into runs, one for each segment of the output; the second fetches the runs that lead to its segment of
/// the output and puts their units in order. A run is padded to whole 16-byte vectors. Narrow units move as words of
/// several rows at once, a unit of each. Template permute_bucketed.
struct Bucketed {
  unsigned lanes = 1;  ///< rows of a bundle, which move together: 1, 2 or 4; of units of 4 bytes or more 1
  std::uint64_t source_segment = 0;  ///< units; whole vectors, as the next
  std::uint64_t target_segment = 0;
  std::uint64_t out_vectors = 0;  ///< of words, that a source segment's runs have room for
  std::uint64_t in_vectors = 0;   ///< that the runs to a target segment have room for
  unsigned threads = 0;           ///< a block
  unsigned batch = 1;             ///< vectors of words that a thread reads at once, of several lanes
  unsigned resident = 0;          ///< blocks that a multiprocessor is to hold at a time
  bool relay = false;             ///< where all blocks fit on the device at once, one launch hands on row after row
  friend bool operator==(const Bucketed&, const Bucketed&) = default;
};

/// How `blocks` is moved in two passes by a device whose blocks may have `shared_limit` bytes of shared memory, about
/// `typical_rows` rows at a time (0: many). Nothing if that would not pay: when some source segment is read by much
/// more of the output than others, or a row has too many segments. Pure, O(M).
std::optional<Bucketed> find_bucketed(const BlockMap& blocks, unsigned shared_limit, std::uint64_t typical_rows = 0);

/// The same with segments of `segment` units, whole vectors, or a little more if that saves one, with so many threads,
/// a whole number of warps, and lanes.
std::optional<Bucketed> bucketed_with(const BlockMap& blocks, std::uint64_t segment, unsigned threads,
                                      unsigned lanes = 1);

/// Sizes that follow from a map and its segments.
struct BucketedSizes {
  BucketedSizes(const BlockMap& blocks, const Bucketed& bucketed) noexcept;

  std::uint64_t words = 0;    ///< a vector of scratch memory
  std::uint64_t sources = 0;  ///< segments of a source row
  std::uint64_t targets = 0;  ///< segments of an output row
  // Where the parts of the table start, in 32-bit words; each on a vector's boundary.
  std::uint64_t in_counts = 0;  ///< behind the out counts, without a gap
  std::uint64_t out_offsets = 0;
  std::uint64_t addresses = 0;
  std::uint64_t in_offsets = 0;
  std::uint64_t table_words = 0;
  std::uint64_t scratch_bundle_bytes = 0;
  unsigned out_shared_bytes =
      0;  ///< of a block of the first pass: a segment; of one lane wherever it starts between two vectors
  unsigned in_shared_bytes = 0;  ///< of a block of the second pass
};

/// What the template's `kiln_table` holds, in 32-bit words, 16-bit entries in pairs, the first one low:
///   u32 vectors of each source segment's runs, then u32 vectors of the runs to each target segment;
///   u16 unit of the source segment for each word of its runs, out_vectors vectors a segment, 0 for padding;
///   u32 vector of the bundle's scratch memory for each vector of the runs to a target segment, in_vectors a segment;
///   u16 place among the runs to a target segment for each of its units, target_segment a segment.
/// A source segment's runs are ordered by target, those to a target by source; scratch memory holds out_vectors vectors
/// of words for each source segment. Pure, O(M).
std::vector<std::uint32_t> bucketed_table(const BlockMap& blocks, const Bucketed& bucketed);

}  // namespace kiln::permutation
