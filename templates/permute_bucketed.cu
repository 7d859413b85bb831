// y[o, j] = x[o, map[j]] for rows that no block's shared memory holds, in two passes over segments of a row. The first
// reads a segment of x and writes its units in runs, one for each segment of y, to scratch memory; the second fetches
// the runs that lead to its segment of y and puts their units in order. Both read and write global memory in 16-byte
// vectors, and gather in shared memory. A block serves one segment, and keeps what it looks up in registers over all of
// its rows.
//
// The passes are launched one after the other; or both at once, as a relay: blocks of either kind hand row after row on
// through scratch memory that is so small that it stays in the L2 cache. One kernel is all three, so that its code is
// compiled once.
//
// Narrow units are moved of several rows at once: a bundle of `lanes` neighbouring rows is interleaved on its way in,
// and separated on its way out. Between, in shared and in scratch memory, a word holds a unit of each, and what is
// moved for one row is words. With one lane a word is a unit, and a bundle a row.
//
// A `unit` moves as a whole; callers align their pointers to `element`, and scratch memory to 16 bytes. Rows have
// `row_out` units in the output, `row_in` in the input, in segments of `target_segment` and `source_segment` units,
// which are whole vectors; the last may be shorter. A source segment's runs have room for `out_vectors` vectors of
// words, the runs to a target segment for `in_vectors`. The table is written to kiln_table after loading. Of
// several lanes, a thread reads what makes `batch` vectors of words before it waits; `resident` blocks are to run on a
// multiprocessor at once.
//
// kiln: parameter unit: type
// kiln: parameter element: type
// kiln: parameter row_out: u32
// kiln: parameter row_in: u32
// kiln: parameter lanes: u32
// kiln: parameter source_segment: u32
// kiln: parameter target_segment: u32
// kiln: parameter out_vectors: u32
// kiln: parameter in_vectors: u32
// kiln: parameter threads: u32
// kiln: parameter batch: u32
// kiln: parameter resident: u32
// kiln: entry permute_bucketed
#include "kiln/bucketed.cuh"
#include "kiln/segment_in.cuh"
#include "kiln/segment_out.cuh"

namespace {

using kiln::k_vector_words;
using kiln::Word;

constexpr unsigned k_sources = (kiln::row_in + kiln::source_segment - 1) / kiln::source_segment;
constexpr unsigned k_targets = (kiln::row_out + kiln::target_segment - 1) / kiln::target_segment;
constexpr unsigned long long k_bundle_bytes = 16ull * k_sources * kiln::out_vectors;  // of scratch memory

// The table's parts, in bytes: how many vectors the runs of each segment have, out and in; words to put into the runs;
// vectors of scratch memory to fetch; places among what was fetched.
constexpr unsigned long long k_in_counts = 4ull * k_sources;
constexpr unsigned long long k_out_offsets = (4ull * (k_sources + k_targets) + 15) / 16 * 16;
constexpr unsigned long long k_addresses =
    k_out_offsets + (2ull * k_sources * kiln::out_vectors * k_vector_words + 15) / 16 * 16;
constexpr unsigned long long k_in_offsets = k_addresses + (4ull * k_targets * kiln::in_vectors + 15) / 16 * 16;
constexpr unsigned long long k_table_bytes = k_in_offsets + (2ull * k_targets * kiln::target_segment + 15) / 16 * 16;

__device__ constexpr unsigned turns_for(unsigned vectors) { return (vectors + kiln::threads - 1) / kiln::threads; }

}  // namespace

extern "C" {
__device__ uint4 kiln_table[k_table_bytes / 16];
}

namespace {

__device__ __forceinline__ const unsigned char* table_at(unsigned long long byte) {
  return reinterpret_cast<const unsigned char*>(kiln_table) + byte;
}

/// Where a bundle of rows is in x or y.
struct Bundle {
  __device__ __forceinline__ Bundle(unsigned long long number, unsigned long long all)
      : first(number * kiln::lanes),
        rows(all - first < kiln::lanes ? static_cast<unsigned>(all - first) : kiln::lanes) {}
  unsigned long long first;  // row
  unsigned rows;             // that there are
};

/// The first pass over one source segment.
class Split {
 public:
  __device__ __forceinline__ explicit Split(unsigned segment)
      : segment_(segment), vectors_(kiln::load_constant<unsigned>(table_at(4ull * segment))) {
    const unsigned char* offsets = table_at(k_out_offsets + 2ull * segment * kiln::out_vectors * k_vector_words);
#pragma unroll
    for (unsigned turn = 0; turn < k_turns; ++turn) {
      if (const unsigned vector = threadIdx.x + turn * kiln::threads; vector < vectors_) {
        offsets_[turn].read(offsets, vector);
      }
    }
  }

  /// Starts to read the segment of bundle `number` of the `rows` rows at `x`.
  __device__ __forceinline__ void read(const unsigned char* x, unsigned long long number, unsigned long long rows) {
    const Bundle bundle(number, rows);
    const unsigned units = kiln::units_of(segment_, kiln::source_segment, kiln::row_in);
    start_ =
        kiln::read({x + bundle.first * kiln::k_row_in + 1ull * segment_ * kiln::source_segment * sizeof(kiln::unit),
                    static_cast<unsigned>(units * sizeof(kiln::unit)), bundle.rows, x, x + rows * kiln::k_row_in});
  }

  /// Writes the runs of what was read to the bundle's scratch memory; do they stay in the L2 cache?
  __device__ __forceinline__ void write(unsigned char* scratch, bool stay) const {
    const kiln::ScratchWriter writer(stay);
    unsigned char* to = scratch + 16ull * segment_ * kiln::out_vectors;
#pragma unroll
    for (unsigned turn = 0; turn < k_turns; ++turn) {
      if (const unsigned vector = threadIdx.x + turn * kiln::threads; vector < vectors_) {
        writer.store(to + 16 * vector, kiln::gather_vector<Word>(kiln::shared_bytes() + start_, offsets_[turn].anew()));
        kiln::one_vector_at_a_time<Word>();
      }
    }
  }

 private:
  static constexpr unsigned k_turns = turns_for(kiln::out_vectors);
  unsigned segment_;
  unsigned vectors_;
  unsigned start_ = 0;  // of the words in shared memory
  kiln::Offsets<k_vector_words> offsets_[k_turns];
};

/// The second pass over one target segment.
class Join {
 public:
  __device__ __forceinline__ explicit Join(unsigned segment)
      : segment_(segment), writer_(table_at(k_in_offsets + 2ull * segment * kiln::target_segment), bytes()) {
    const unsigned vectors = kiln::load_constant<unsigned>(table_at(k_in_counts + 4ull * segment));
    const unsigned char* addresses = table_at(k_addresses + 4ull * segment * kiln::in_vectors);
#pragma unroll
    for (unsigned turn = 0; turn < k_turns; ++turn) {
      const unsigned vector = threadIdx.x + turn * kiln::threads;
      addresses_[turn] = vector < vectors ? kiln::load_constant<unsigned>(addresses + 4 * vector) : k_none;
    }
  }

  /// Starts to fetch the runs from the bundle's scratch memory.
  __device__ __forceinline__ void read(const unsigned char* scratch) const {
#pragma unroll
    for (unsigned turn = 0; turn < k_turns; ++turn) {
      if (addresses_[turn] != k_none) {
        kiln::copy_through_l2(kiln::shared_bytes() + 16 * (threadIdx.x + turn * kiln::threads),
                              scratch + 16ull * addresses_[turn]);
      }
    }
  }

  /// Writes the segment of bundle `number` of the `rows` rows at `y`.
  __device__ __forceinline__ void write(unsigned char* y, unsigned long long number, unsigned long long rows) const {
    const Bundle bundle(number, rows);
    writer_.write({y + bundle.first * kiln::k_row_out + 1ull * segment_ * kiln::target_segment * sizeof(kiln::unit),
                   bytes(), bundle.rows});
  }

 private:
  static constexpr unsigned k_none = ~0u;
  static constexpr unsigned k_turns = turns_for(kiln::in_vectors);

  /// Of the segment in each row.
  __device__ __forceinline__ unsigned bytes() const {
    return static_cast<unsigned>(kiln::units_of(segment_, kiln::target_segment, kiln::row_out) * sizeof(kiln::unit));
  }

  unsigned segment_;
  kiln::SegmentWriter writer_;
  unsigned addresses_[k_turns];
};

__device__ __forceinline__ unsigned long long bundles_of(unsigned long long rows) {
  return (rows + kiln::lanes - 1) / kiln::lanes;
}

/// What a block does: a segment of bundles first, first + step, …, before `end`.
struct Work {
  unsigned segment;
  unsigned long long first;
  unsigned long long end;
  unsigned char* scratch;  // memory of the first; those of the others follow it, of `ring` of them, and then again
  unsigned* counters;      // two of each in the ring, where the other pass is at work at the same time; else null
  unsigned ring;

  __device__ __forceinline__ bool is_relay() const { return counters != nullptr; }
};

/// A pass by itself: neighbouring blocks take the segments of the same bundles, a block neighbouring bundles. Each has
/// scratch memory of its own.
__device__ __forceinline__ Work work_of_pass(unsigned segments, unsigned long long bundles, void* scratch) {
  const unsigned long long block = blockIdx.x + 1ull * gridDim.x * blockIdx.y;
  const unsigned long long shares = 1ull * gridDim.x * gridDim.y / segments;
  const unsigned long long each = (bundles + shares - 1) / shares;
  Work work;
  work.segment = static_cast<unsigned>(block % segments);
  work.first = block / segments * each;
  work.end = block / segments >= shares ? work.first : work.first + each < bundles ? work.first + each : bundles;
  work.scratch = static_cast<unsigned char*>(scratch) + work.first * k_bundle_bytes;
  work.counters = nullptr;
  work.ring = ~0u;
  return work;
}

/// A relay: the blocks of group blockIdx.y take bundles gridDim.y apart, through a ring of scratch memory.
__device__ __forceinline__ Work work_of_relay(unsigned segment, unsigned long long bundles, void* scratch,
                                              unsigned* counters, unsigned ring) {
  Work work;
  work.segment = segment;
  work.first = blockIdx.y;
  work.end = bundles;
  work.scratch = static_cast<unsigned char*>(scratch) + 1ull * blockIdx.y * ring * k_bundle_bytes;
  work.counters = counters + 2ull * blockIdx.y * ring;
  work.ring = ring;
  return work;
}

/// The bundles of a block's work, one after another.
class Queue {
 public:
  __device__ __forceinline__ explicit Queue(const Work& work) : work_(work), bundle_(work.first) {}
  __device__ __forceinline__ bool has_more() const { return bundle_ < work_.end; }
  __device__ __forceinline__ unsigned long long bundle() const { return bundle_; }
  __device__ __forceinline__ unsigned char* scratch() const { return work_.scratch + slot_ * k_bundle_bytes; }
  /// How often the bundle's space was used before.
  __device__ __forceinline__ unsigned use() const { return use_; }
  /// Of the blocks that have written the bundle, and of those that have read it.
  __device__ __forceinline__ kiln::Counter written() const { return kiln::Counter(work_.counters + slot_ * 2); }
  __device__ __forceinline__ kiln::Counter taken() const { return kiln::Counter(work_.counters + slot_ * 2 + 1); }
  __device__ __forceinline__ void next() {
    bundle_ += work_.is_relay() ? gridDim.y : 1;
    if (++slot_ == work_.ring) {
      slot_ = 0;
      ++use_;
    }
  }

 private:
  Work work_;
  unsigned long long bundle_;
  unsigned slot_ = 0;
  unsigned use_ = 0;
};

__device__ __forceinline__ void split_all(Work work, const unsigned char* x, unsigned long long rows) {
  Split split(work.segment);
#pragma unroll 1
  for (Queue queue(work); queue.has_more(); queue.next()) {
    split.read(x, queue.bundle(), rows);
    if (work.is_relay()) {
      queue.taken().wait(queue.use() * k_targets);
    }
    kiln::wait_for_copies();
    __syncthreads();
    split.write(queue.scratch(), work.is_relay());
    if (work.is_relay()) {
      queue.written().arrive();
    } else {
      __syncthreads();
    }
  }
}

__device__ __forceinline__ void join_all(Work work, unsigned char* y, unsigned long long rows) {
  const Join join(work.segment);
#pragma unroll 1
  for (Queue queue(work); queue.has_more(); queue.next()) {
    if (work.is_relay()) {
      queue.written().wait((queue.use() + 1) * k_sources);
      __syncthreads();
    }
    join.read(queue.scratch());
    kiln::wait_for_copies();
    if (work.is_relay()) {
      queue.taken().arrive();
    } else {
      __syncthreads();
    }
    join.write(y, queue.bundle(), rows);
    __syncthreads();
  }
}

}  // namespace

/// Without `counters` a pass by itself: the first if there is no y, the second if there is no x. Any grid with at least
/// as many blocks as a row has segments.
///
/// With them both at once. The grid has gridDim.y groups, each of as many blocks as both passes have segments, and
/// group g takes the bundles g, g + gridDim.y, … Scratch memory has `ring` bundles for each group, `counters` two
/// counters for each of them, 0 at first: of the blocks that have written the bundle, and of those that have read it.
///
/// Why it ends: the launch is cooperative, so that every block is running, and none waits for a block that has not
/// started. Number a group's bundles in the order it takes them. A block of the second pass waits for bundle n to be
/// written, a block of the first for bundle n - ring to be read, and each does its bundles in order. So the first
/// bundle that is not finished has all that it waits for: its space was read, and whoever is to write or read it has
/// nothing before it left to do.
///
/// Why a count that includes every earlier use of a bundle's space is enough: nobody writes into it before all have
/// read what was there, and nobody reads before all have written, so that no block is ever a use ahead of another.
__global__ void __launch_bounds__(kiln::threads, kiln::resident)
    permute_bucketed(void* y, const void* x, void* scratch, unsigned* counters, unsigned long long rows,
                     unsigned ring) {
  const bool is_relay = counters != nullptr;
  const bool splits = is_relay ? blockIdx.x < k_sources : y == nullptr;
  const unsigned long long bundles = bundles_of(rows);
  const Work work = is_relay
                        ? work_of_relay(splits ? blockIdx.x : blockIdx.x - k_sources, bundles, scratch, counters, ring)
                        : work_of_pass(splits ? k_sources : k_targets, bundles, scratch);
  if (splits) {
    split_all(work, static_cast<const unsigned char*>(x), rows);
  } else {
    join_all(work, static_cast<unsigned char*>(y), rows);
  }
}
