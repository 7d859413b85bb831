// y[o, j] = x[o, map[j]] for rows that no block's shared memory holds, in two passes over segments of a row. The first
// reads a segment of x and writes its units in runs, one for each segment of y, to scratch memory; the second fetches
// the runs that lead to its segment of y and puts their units in order. Both read and write global memory in 16-byte
// vectors, and gather in shared memory. A block serves one segment, and keeps what it looks up in registers over all of
// its rows.
//
// `pass1` and `pass2` are launched one after the other. `relay` is both at once: blocks of either kind hand row after
// row on through scratch memory that is so small that it stays in the L2 cache.
//
// A `unit` moves as a whole; callers align their pointers to `element`, and scratch memory to 16 bytes. Rows have
// `row_out` units in the output, `row_in` in the input, in segments of `target_segment` and `source_segment` units,
// which are whole vectors; the last may be shorter. A source segment's runs have room for `out_vectors` vectors, the
// runs to a target segment for `in_vectors`. The table is written to kiln_table after loading; `resident` blocks are to
// run on a multiprocessor at once.
//
// kiln: parameter unit: type
// kiln: parameter element: type
// kiln: parameter row_out: u32
// kiln: parameter row_in: u32
// kiln: parameter source_segment: u32
// kiln: parameter target_segment: u32
// kiln: parameter out_vectors: u32
// kiln: parameter in_vectors: u32
// kiln: parameter threads: u32
// kiln: parameter resident: u32
// kiln: entry pass1
// kiln: entry pass2
// kiln: entry relay
#include "kiln/bucketed.cuh"
#include "kiln/gather.cuh"
#include "kiln/values.h"

extern __shared__ uint4 kiln_shared[];

namespace {

using kiln::element;
using kiln::unit;

constexpr unsigned k_units = 16 / sizeof(unit);  // of a vector
constexpr unsigned k_sources = (kiln::row_in + kiln::source_segment - 1) / kiln::source_segment;
constexpr unsigned k_targets = (kiln::row_out + kiln::target_segment - 1) / kiln::target_segment;
constexpr unsigned long long k_row_in_bytes = 1ull * kiln::row_in * sizeof(unit);
constexpr unsigned long long k_row_out_bytes = 1ull * kiln::row_out * sizeof(unit);
constexpr unsigned long long k_row_scratch_bytes = 16ull * k_sources * kiln::out_vectors;

// The table's parts, in bytes: how many vectors the runs of each segment have, out and in; units to put into the runs;
// vectors of scratch memory to fetch; places among what was fetched.
constexpr unsigned long long k_in_counts = 4ull * k_sources;
constexpr unsigned long long k_out_offsets = (4ull * (k_sources + k_targets) + 15) / 16 * 16;
constexpr unsigned long long k_addresses =
    k_out_offsets + (2ull * k_sources * kiln::out_vectors * k_units + 15) / 16 * 16;
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
__device__ __forceinline__ unsigned char* shared_bytes() { return reinterpret_cast<unsigned char*>(kiln_shared); }

/// The first pass over one source segment.
class Split {
 public:
  __device__ __forceinline__ explicit Split(unsigned segment)
      : segment_(segment), vectors_(kiln::load_constant<unsigned>(table_at(4ull * segment))) {
    const unsigned char* offsets = table_at(k_out_offsets + 2ull * segment * kiln::out_vectors * k_units);
#pragma unroll
    for (unsigned turn = 0; turn < k_turns; ++turn) {
      if (const unsigned vector = threadIdx.x + turn * kiln::threads; vector < vectors_) {
        offsets_[turn].read(offsets, vector);
      }
    }
  }

  /// Starts to read the segment of the row at `x`.
  __device__ __forceinline__ void read(const unsigned char* x) {
    const unsigned first = segment_ * kiln::source_segment;
    const unsigned units = kiln::row_in - first < kiln::source_segment ? kiln::row_in - first : kiln::source_segment;
    phase_ = kiln::stage_segment<unit, element, kiln::threads>(shared_bytes(), x + 1ull * first * sizeof(unit),
                                                               static_cast<unsigned>(units * sizeof(unit)));
  }

  /// Writes the runs of what was read to the row's scratch memory. `Writer`: WriteKept or WriteOnce.
  template <typename Writer>
  __device__ __forceinline__ void write(unsigned char* scratch) const {
    unsigned char* to = scratch + 16ull * segment_ * kiln::out_vectors;
    const Writer writer;
#pragma unroll
    for (unsigned turn = 0; turn < k_turns; ++turn) {
      if (const unsigned vector = threadIdx.x + turn * kiln::threads; vector < vectors_) {
        writer.store(to + 16 * vector, kiln::gather_vector<unit>(shared_bytes() + phase_, offsets_[turn]));
        kiln::one_vector_at_a_time<unit>();
      }
    }
  }

 private:
  static constexpr unsigned k_turns = turns_for(kiln::out_vectors);
  unsigned segment_;
  unsigned vectors_;
  unsigned phase_ = 0;
  kiln::Offsets<k_units> offsets_[k_turns];
};

/// The second pass over one target segment.
class Join {
 public:
  __device__ __forceinline__ explicit Join(unsigned segment)
      : segment_(segment),
        units_(kiln::row_out - segment * kiln::target_segment < kiln::target_segment
                   ? kiln::row_out - segment * kiln::target_segment
                   : kiln::target_segment) {
    const unsigned vectors = kiln::load_constant<unsigned>(table_at(k_in_counts + 4ull * segment));
    const unsigned char* addresses = table_at(k_addresses + 4ull * segment * kiln::in_vectors);
#pragma unroll
    for (unsigned turn = 0; turn < k_in_turns; ++turn) {
      const unsigned vector = threadIdx.x + turn * kiln::threads;
      addresses_[turn] = vector < vectors ? kiln::load_constant<unsigned>(addresses + 4 * vector) : k_none;
    }
#pragma unroll
    for (unsigned turn = 0; turn < k_out_turns; ++turn) {
      if (const unsigned vector = threadIdx.x + turn * kiln::threads; vector < units_ / k_units) {
        offsets_[turn].read(offsets(), vector);
      }
    }
  }

  /// Starts to fetch the runs from the row's scratch memory.
  __device__ __forceinline__ void read(const unsigned char* scratch) const {
#pragma unroll
    for (unsigned turn = 0; turn < k_in_turns; ++turn) {
      if (addresses_[turn] != k_none) {
        kiln::copy_through_l2(shared_bytes() + 16 * (threadIdx.x + turn * kiln::threads),
                              scratch + 16ull * addresses_[turn]);
      }
    }
  }

  /// Writes the segment to the row at `y`.
  __device__ __forceinline__ void write(unsigned char* y) const {
    unsigned char* to = y + 1ull * segment_ * kiln::target_segment * sizeof(unit);
    unsigned left = 0;  // the first unit that is not in a whole vector
    if (kiln::is_aligned(to, 16)) {
#pragma unroll
      for (unsigned turn = 0; turn < k_out_turns; ++turn) {
        if (const unsigned vector = threadIdx.x + turn * kiln::threads; vector < units_ / k_units) {
          kiln::store_streaming(to + 16 * vector, kiln::gather_vector<unit>(shared_bytes(), offsets_[turn]));
          kiln::one_vector_at_a_time<unit>();
        }
      }
      left = units_ / k_units * k_units;
    }
    const bool aligned = kiln::is_aligned(to, sizeof(unit));
#pragma unroll 1
    for (unsigned at = left + threadIdx.x; at < units_; at += kiln::threads) {
      const unsigned char* from =
          shared_bytes() + sizeof(unit) * kiln::load_constant<unsigned short>(offsets() + 2 * at);
      unsigned char* unit_to = to + at * sizeof(unit);
      if (aligned) {
        kiln::store_streaming(unit_to, kiln::load<unit>(from));
      } else {
#pragma unroll
        for (unsigned part = 0; part < sizeof(unit); part += sizeof(element)) {
          kiln::store(unit_to + part, kiln::load<element>(from + part));
        }
      }
    }
  }

 private:
  static constexpr unsigned k_none = ~0u;
  static constexpr unsigned k_in_turns = turns_for(kiln::in_vectors);
  static constexpr unsigned k_out_turns = turns_for(kiln::target_segment / k_units);

  __device__ __forceinline__ const unsigned char* offsets() const {
    return table_at(k_in_offsets + 2ull * segment_ * kiln::target_segment);
  }

  unsigned segment_;
  unsigned units_;
  unsigned addresses_[k_in_turns];
  kiln::Offsets<k_units> offsets_[k_out_turns];
};

/// Which of a pass's segments is this block's, and which rows: neighbouring blocks take the segments of the same rows.
struct Share {
  __device__ __forceinline__ Share(unsigned segments, unsigned long long rows) {
    const unsigned long long block = blockIdx.x + 1ull * gridDim.x * blockIdx.y;
    const unsigned long long shares = 1ull * gridDim.x * gridDim.y / segments;
    const unsigned long long each = (rows + shares - 1) / shares;
    segment = static_cast<unsigned>(block % segments);
    first = block / segments * each;
    end = block / segments >= shares ? first : first + each < rows ? first + each : rows;
  }
  unsigned segment;
  unsigned long long first;
  unsigned long long end;
};

}  // namespace

/// Any grid with at least as many blocks as a row has segments.
__global__ void __launch_bounds__(kiln::threads, kiln::resident)
    pass1(void* __restrict__ scratch, const void* __restrict__ x, unsigned long long rows) {
  const Share share(k_sources, rows);
  if (share.first >= share.end) {
    return;
  }
  Split split(share.segment);
#pragma unroll 1
  for (unsigned long long row = share.first; row < share.end; ++row) {
    split.read(static_cast<const unsigned char*>(x) + row * k_row_in_bytes);
    kiln::wait_for_copies();
    __syncthreads();
    split.write<kiln::WriteOnce>(static_cast<unsigned char*>(scratch) + row * k_row_scratch_bytes);
    __syncthreads();
  }
}

__global__ void __launch_bounds__(kiln::threads, kiln::resident)
    pass2(void* __restrict__ y, const void* __restrict__ scratch, unsigned long long rows) {
  const Share share(k_targets, rows);
  if (share.first >= share.end) {
    return;
  }
  const Join join(share.segment);
#pragma unroll 1
  for (unsigned long long row = share.first; row < share.end; ++row) {
    join.read(static_cast<const unsigned char*>(scratch) + row * k_row_scratch_bytes);
    kiln::wait_for_copies();
    __syncthreads();
    join.write(static_cast<unsigned char*>(y) + row * k_row_out_bytes);
    __syncthreads();
  }
}

/// The grid has gridDim.y groups, each of as many blocks as both passes have segments, and group g takes the rows g, g
/// + gridDim.y, … Scratch memory has `ring` rows for each group, `counters` two counters for each of them, 0 at first:
/// of the blocks that have written the row, and of those that have read it.
///
/// Why it ends: the launch is cooperative, so that every block is running, and none waits for a block that has not
/// started. Number a group's rows in the order it takes them. A block of the second pass waits for row n to be written,
/// a block of the first for row n - ring to be read, and each does its rows in order. So the first row that is not
/// finished has all that it waits for: its space was read, and whoever is to write or read it has nothing before it
/// left to do.
///
/// Why a count that includes every earlier use of a row's space is enough: nobody writes into it before all have read
/// what was there, and nobody reads before all have written, so that no block is ever a use ahead of another.
__global__ void __launch_bounds__(kiln::threads, kiln::resident)
    relay(void* __restrict__ y, const void* __restrict__ x, void* scratch, unsigned* counters, unsigned long long rows,
          unsigned ring) {
  unsigned char* const space = static_cast<unsigned char*>(scratch) + blockIdx.y * ring * k_row_scratch_bytes;
  unsigned* const counts = counters + blockIdx.y * ring * 2;
  unsigned slot = 0;
  unsigned use = 0;  // of the slot
  auto next = [&] {
    if (++slot == ring) {
      slot = 0;
      ++use;
    }
  };
  if (blockIdx.x < k_sources) {
    Split split(blockIdx.x);
#pragma unroll 1
    for (unsigned long long row = blockIdx.y; row < rows; row += gridDim.y, next()) {
      split.read(static_cast<const unsigned char*>(x) + row * k_row_in_bytes);
      kiln::Counter(counts + slot * 2 + 1).wait(use * k_targets);
      kiln::wait_for_copies();
      __syncthreads();
      split.write<kiln::WriteKept>(space + slot * k_row_scratch_bytes);
      kiln::Counter(counts + slot * 2).arrive();
    }
  } else {
    const Join join(blockIdx.x - k_sources);
#pragma unroll 1
    for (unsigned long long row = blockIdx.y; row < rows; row += gridDim.y, next()) {
      kiln::Counter(counts + slot * 2).wait((use + 1) * k_sources);
      __syncthreads();
      join.read(space + slot * k_row_scratch_bytes);
      kiln::wait_for_copies();
      kiln::Counter(counts + slot * 2 + 1).arrive();
      join.write(static_cast<unsigned char*>(y) + row * k_row_out_bytes);
      __syncthreads();
    }
  }
}
