// A segment of a bundle of rows of x into shared memory, as words.
#pragma once

#include "kiln/bucketed.cuh"
#include "kiln/segment.cuh"
#include "kiln/slots.cuh"

namespace kiln {

/// Reads data that nobody reads again: it leaves the L2 cache first. To be made where all threads of a warp are: a
/// policy made in a branch was seen to be compiled into an illegal instruction (NVRTC 13.0, sm_90).
class ReadOnce {
 public:
  __device__ __forceinline__ ReadOnce() {
#if KILN_HAS_CP_ASYNC
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy_));
#endif
  }
  /// 16 bytes from global to shared memory, as copy_asynchronously does.
  __device__ __forceinline__ void copy(void* shared, const void* global) const {
#if KILN_HAS_CP_ASYNC
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;"
                 :
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))), "l"(global), "l"(policy_)
                 : "memory");
#else
    store(shared, load_constant<uint4>(global));
#endif
  }
  /// A piece, as load_constant does; of several lanes.
  __device__ __forceinline__ Vector load_piece(const void* global) const {
    Vector value = {};
    if constexpr (k_piece == 4) {
#if KILN_HAS_CP_ASYNC
      asm("ld.global.nc.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(value.words[0]) : "l"(global), "l"(policy_));
#else
      value.words[0] = load_constant<unsigned int>(global);
#endif
    } else {
#if KILN_HAS_CP_ASYNC
      asm("ld.global.nc.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
          : "=r"(value.words[0]), "=r"(value.words[1])
          : "l"(global), "l"(policy_));
#else
      const uint2 pair = load_constant<uint2>(global);
      value.words[0] = pair.x;
      value.words[1] = pair.y;
#endif
    }
    return value;
  }

 private:
#if KILN_HAS_CP_ASYNC
  unsigned long long policy_;
#endif
};

/// One segment of a bundle of rows of x.
struct SegmentIn {
  const unsigned char* first;  // byte of the segment in the first row
  unsigned bytes;              // of each row
  unsigned rows;               // at least 1
  const unsigned char* begin;  // of x
  const unsigned char* end;    // of x

  __device__ __forceinline__ const unsigned char* of(unsigned lane) const { return first + lane * k_row_in; }
};

/// One lane, aligned to its units: on the way when it returns. Where its vectors are not aligned, the aligned ones that
/// it lies in, as they are. Returns how far behind the start of shared memory the segment starts.
__device__ __forceinline__ unsigned copy_as_it_is(const SegmentIn& in, const ReadOnce& once) {
  const unsigned phase = phase_of(in.first);
  const unsigned until_boundary = (16 - phase) & 15;
  const unsigned head = until_boundary < in.bytes ? until_boundary : in.bytes;
  const unsigned vectors = (in.bytes - head) / 16;
  const unsigned tail = head + vectors * 16;
  unsigned char* to = shared_bytes() + phase;
  for (unsigned vector = threadIdx.x; vector < vectors; vector += threads) {
    once.copy(to + head + vector * 16, in.first + head + vector * 16);
  }
  // What is before the first boundary and behind the last is less than a vector each.
  if (threadIdx.x < k_vector_words) {
    const unsigned at = threadIdx.x * sizeof(unit);
    if (at < head) {
      store(to + at, load_constant<unit>(in.first + at));
    }
    if (tail + at < in.bytes) {
      store(to + tail + at, load_constant<unit>(in.first + tail + at));
    }
  }
  return phase;
}

/// Pieces [0, low) and [high, count) of every row, element by element.
__device__ __forceinline__ void read_elements(const SegmentIn& in, unsigned low, unsigned high, unsigned count) {
  constexpr unsigned k_elements = k_piece / sizeof(element);
#pragma unroll 1
  for (unsigned item = threadIdx.x; item < (low + count - high) * k_elements; item += threads) {
    const unsigned piece = item / k_elements < low ? item / k_elements : item / k_elements - low + high;
    const unsigned at = piece * k_piece + item % k_elements * static_cast<unsigned>(sizeof(element));
    unsigned char* to = shared_bytes() + at / sizeof(unit) * sizeof(Word) + at % sizeof(unit);
#pragma unroll 1
    for (unsigned lane = 0; lane < in.rows && at < in.bytes; ++lane) {
      store(to + lane * sizeof(unit), load_constant<element>(in.of(lane) + at));
    }
  }
}

__device__ __forceinline__ void keep_words(unsigned piece, const Pieces& found) {
  store(shared_bytes() + piece * 16, bits_of(interleave<unit>(found).of[0]));
}

constexpr unsigned k_most_pieces = (source_segment * sizeof(unit) + k_piece - 1) / k_piece;  // of a row

/// As many rows as there are lanes, whole pieces of each that are aligned.
__device__ __forceinline__ void read_aligned(const SegmentIn& in, const ReadOnce& once) {
  auto load = [&](unsigned piece) {
    Pieces held;
#pragma unroll
    for (unsigned lane = 0; lane < lanes; ++lane) {
      held.of[lane] = once.load_piece(in.of(lane) + piece * k_piece);
    }
    return held;
  };
  for_each_slot<k_most_pieces, threads, batch, Pieces>(in.bytes / k_piece, load, keep_words);
}

/// Any lanes, each piece made of the two aligned ones that it lies in. Where x starts or ends, the first and the last
/// are read by themselves. For rows that are not there the last is read again: that takes no branch between the loads.
__device__ __forceinline__ void read_moved(const SegmentIn& in, const ReadOnce& once) {
  struct Held {
    Pieces low;
    Pieces high;
  };
  const unsigned count = (in.bytes + k_piece - 1) / k_piece;
  const bool at_begin = in.first < in.begin + k_piece;
  const bool at_end = in.of(in.rows - 1) + (count + 1) * k_piece > in.end;
  const unsigned whole = !at_end ? count : in.bytes < k_piece ? 0 : in.bytes / k_piece - 1;
  const unsigned low = at_begin ? 1 : 0;  // pieces [low, high) are read whole
  const unsigned high = whole < low ? low : whole;
  const unsigned char* from[lanes];  // the first aligned piece that is read
  unsigned moved[lanes];             // bytes that it is behind the row's own first
#pragma unroll
  for (unsigned lane = 0; lane < lanes; ++lane) {
    from[lane] = in.of(lane < in.rows ? lane : in.rows - 1);
    moved[lane] = (k_piece - piece_phase(from[lane])) % k_piece;
    from[lane] += moved[lane] + low * k_piece;
    keep_in_register(from[lane]);
  }
  auto load = [&](unsigned number) {
    Held held;
#pragma unroll
    for (unsigned lane = 0; lane < lanes; ++lane) {
      held.low.of[lane] = once.load_piece(from[lane] + number * k_piece - k_piece);
      held.high.of[lane] = once.load_piece(from[lane] + number * k_piece);
    }
    return held;
  };
  auto keep = [&](unsigned number, const Held& held) {
    Pieces found;
#pragma unroll
    for (unsigned lane = 0; lane < lanes; ++lane) {
      found.of[lane] = realign_piece(held.low.of[lane], held.high.of[lane], moved[lane]);
    }
    keep_words(low + number, found);
  };
  // Each is made of two. Rows of whole pieces are seldom read so, and the registers are those of read_aligned.
  constexpr unsigned k_batch = k_row_in % k_piece == 0 || batch < 2 ? 1 : batch / 2;
  for_each_slot<k_most_pieces, threads, k_batch, Held>(high - low, load, keep);
  if (at_begin || at_end) {
    read_elements(in, low < count ? low : count, high < count ? high : count, count);
  }
}

/// Starts to read a segment. Complete after wait_for_copies and a barrier. Nothing outside of x is read. Returns the
/// byte of shared memory with which the words start.
__device__ __forceinline__ unsigned read(const SegmentIn& in) {
  const ReadOnce once;
  if constexpr (lanes == 1) {
    if (is_aligned(in.first, sizeof(unit))) {
      return copy_as_it_is(in, once);
    }
    const unsigned pieces = (in.bytes + k_piece - 1) / k_piece;
    read_elements(in, pieces, pieces, pieces);
  } else {
    if (in.rows == lanes && has_aligned_rows(in.first, k_row_in)) {
      read_aligned(in, once);
    } else {
      read_moved(in, once);
    }
  }
  return 0;
}

}  // namespace kiln
