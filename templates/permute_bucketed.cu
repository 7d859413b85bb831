// y[o, j] = x[o, map[j]] for rows that no block's shared memory holds, in two passes over segments of a row. The first
// reads a segment of x and writes its units in runs, one for each segment of y, to scratch memory; the second fetches
// the runs that lead to its segment of y and puts their units in order. Both read and write global memory in 16-byte
// vectors, and gather in shared memory. A block serves one segment, and keeps what it looks up in registers over all of
// its rows.
//
// `pass1` and `pass2` are launched one after the other. `relay` is both at once: blocks of either kind hand row after
// row on through scratch memory that is so small that it stays in the L2 cache.
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
// kiln: entry pass1
// kiln: entry pass2
// kiln: entry relay
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

  /// Writes the runs of what was read to the bundle's scratch memory. `Writer`: WriteKept or WriteOnce.
  template <typename Writer>
  __device__ __forceinline__ void write(unsigned char* scratch) const {
    unsigned char* to = scratch + 16ull * segment_ * kiln::out_vectors;
    const Writer writer;
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

/// Which of a pass's segments is this block's, and which bundles: neighbouring blocks take the segments of the same
/// ones.
struct Share {
  __device__ __forceinline__ Share(unsigned segments, unsigned long long bundles) {
    const unsigned long long block = blockIdx.x + 1ull * gridDim.x * blockIdx.y;
    const unsigned long long shares = 1ull * gridDim.x * gridDim.y / segments;
    const unsigned long long each = (bundles + shares - 1) / shares;
    segment = static_cast<unsigned>(block % segments);
    first = block / segments * each;
    end = block / segments >= shares ? first : first + each < bundles ? first + each : bundles;
  }
  unsigned segment;
  unsigned long long first;
  unsigned long long end;
};

__device__ __forceinline__ unsigned long long bundles_of(unsigned long long rows) {
  return (rows + kiln::lanes - 1) / kiln::lanes;
}

/// The bundles of a group of blocks, one after another: gridDim.y apart, through a ring of scratch memory.
class Ring {
 public:
  __device__ __forceinline__ Ring(void* scratch, unsigned* counters, unsigned bundles)
      : space_(static_cast<unsigned char*>(scratch) + blockIdx.y * bundles * k_bundle_bytes),
        counts_(counters + blockIdx.y * bundles * 2),
        size_(bundles) {}
  __device__ __forceinline__ unsigned long long bundle() const {
    return (1ull * use_ * size_ + slot_) * gridDim.y + blockIdx.y;
  }
  __device__ __forceinline__ unsigned char* scratch() const { return space_ + slot_ * k_bundle_bytes; }
  /// How often the bundle's space was used before.
  __device__ __forceinline__ unsigned use() const { return use_; }
  /// Of the blocks that have written the bundle, and of those that have read it.
  __device__ __forceinline__ kiln::Counter written() const { return kiln::Counter(counts_ + slot_ * 2); }
  __device__ __forceinline__ kiln::Counter taken() const { return kiln::Counter(counts_ + slot_ * 2 + 1); }
  __device__ __forceinline__ void next() {
    if (++slot_ == size_) {
      slot_ = 0;
      ++use_;
    }
  }

 private:
  unsigned char* space_;
  unsigned* counts_;
  unsigned size_;
  unsigned slot_ = 0;
  unsigned use_ = 0;
};

__device__ __forceinline__ void split_ring(Ring ring, const unsigned char* x, unsigned long long rows) {
  Split split(blockIdx.x);
#pragma unroll 1
  for (; ring.bundle() < bundles_of(rows); ring.next()) {
    split.read(x, ring.bundle(), rows);
    ring.taken().wait(ring.use() * k_targets);
    kiln::wait_for_copies();
    __syncthreads();
    split.write<kiln::WriteKept>(ring.scratch());
    ring.written().arrive();
  }
}

__device__ __forceinline__ void join_ring(Ring ring, unsigned char* y, unsigned long long rows) {
  const Join join(blockIdx.x - k_sources);
#pragma unroll 1
  for (; ring.bundle() < bundles_of(rows); ring.next()) {
    ring.written().wait((ring.use() + 1) * k_sources);
    __syncthreads();
    join.read(ring.scratch());
    kiln::wait_for_copies();
    ring.taken().arrive();
    join.write(y, ring.bundle(), rows);
    __syncthreads();
  }
}

}  // namespace

/// Any grid with at least as many blocks as a row has segments.
__global__ void __launch_bounds__(kiln::threads, kiln::resident)
    pass1(void* __restrict__ scratch, const void* __restrict__ x, unsigned long long rows) {
  const Share share(k_sources, bundles_of(rows));
  if (share.first >= share.end) {
    return;
  }
  Split split(share.segment);
#pragma unroll 1
  for (unsigned long long bundle = share.first; bundle < share.end; ++bundle) {
    split.read(static_cast<const unsigned char*>(x), bundle, rows);
    kiln::wait_for_copies();
    __syncthreads();
    split.write<kiln::WriteOnce>(static_cast<unsigned char*>(scratch) + bundle * k_bundle_bytes);
    __syncthreads();
  }
}

__global__ void __launch_bounds__(kiln::threads, kiln::resident)
    pass2(void* __restrict__ y, const void* __restrict__ scratch, unsigned long long rows) {
  const Share share(k_targets, bundles_of(rows));
  if (share.first >= share.end) {
    return;
  }
  const Join join(share.segment);
#pragma unroll 1
  for (unsigned long long bundle = share.first; bundle < share.end; ++bundle) {
    join.read(static_cast<const unsigned char*>(scratch) + bundle * k_bundle_bytes);
    kiln::wait_for_copies();
    __syncthreads();
    join.write(static_cast<unsigned char*>(y), bundle, rows);
    __syncthreads();
  }
}

/// The grid has gridDim.y groups, each of as many blocks as both passes have segments, and group g takes the bundles g,
/// g
/// + gridDim.y, … Scratch memory has `ring` bundles for each group, `counters` two counters for each of them, 0 at
/// first: of the blocks that have written the bundle, and of those that have read it.
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
    relay(void* __restrict__ y, const void* __restrict__ x, void* scratch, unsigned* counters, unsigned long long rows,
          unsigned ring) {
  const Ring bundles(scratch, counters, ring);
  if (blockIdx.x < k_sources) {
    split_ring(bundles, static_cast<const unsigned char*>(x), rows);
  } else {
    join_ring(bundles, static_cast<unsigned char*>(y), rows);
  }
}
