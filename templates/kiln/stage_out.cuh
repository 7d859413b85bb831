// A tile of y out of shared memory.
#pragma once

#include "kiln/index_table.cuh"
#include "kiln/tile.cuh"

namespace kiln {

/// Do all threads find their vectors in one period? Then each has the same one in all periods, its indices in
/// registers.
constexpr bool k_is_fixed = k_vectors <= threads;

/// The indices of several vectors, on their way at once: as many as there are registers for.
struct IndexBatch {
  static constexpr unsigned k_size = k_is_fixed ? 1 : (k_resident > 1024 ? 2 : 4) / lanes;
  IndexGroup<index_bits, 16 / sizeof(unit)> of[k_size];

  /// Of vectors first, first + step, … of a lane of output; for one that there is not, of any.
  __device__ __forceinline__ void load(unsigned first, unsigned step) {
#pragma unroll
    for (unsigned item = 0; item < k_size; ++item) {
      const unsigned vector = first + item * step;
      of[item].load(table, k_periods == 1 ? (vector < k_vectors ? vector : 0) : vector % k_vectors);
    }
  }
};

using Indices = IndexGroup<index_bits, 16 / sizeof(unit)>;

/// Vector `indices` of period `period` of each lane of output. `start`: where in shared memory the tile starts.
__device__ __forceinline__ TileLanes gather_vectors(unsigned start, unsigned period, const Indices& indices) {
  return gather_lanes<unit, lanes>(shared_tile(), start + period * lanes * k_period_in, indices);
}

/// Whole, and vectors of y are the lanes' own?
__device__ __forceinline__ bool is_aligned_output(const Tile& tile) {
  return k_lane_out % 16 == 0 && tile.is_whole() && is_aligned(tile.y, 16);
}

__device__ __forceinline__ void write_aligned(unsigned char* y, unsigned start, IndexBatch& batch) {
  auto put = [&](unsigned period, unsigned vector, const Indices& indices) {
    const TileLanes found = gather_vectors(start, period, indices);
#pragma unroll
    for (unsigned lane = 0; lane < lanes; ++lane) {
      store_streaming(y + lane * k_lane_out + (period * k_vectors + vector) * 16, bits_of(found.of[lane]));
    }
  };
  if constexpr (k_is_fixed) {
    constexpr unsigned k_at_once = k_is_fixed ? threads / k_vectors : 1;  // periods
    constexpr unsigned k_turns = (k_periods + k_at_once - 1) / k_at_once;
    unsigned period = threadIdx.x / k_vectors;
    if (period < k_at_once) {
#pragma unroll(lanes == 1 ? 2 : 1)
      for (unsigned turn = 0; turn < k_turns; ++turn, period += k_at_once) {
        if (period < k_periods) {
          put(period, threadIdx.x % k_vectors, batch.of[0]);
        }
      }
    }
  } else {
    constexpr unsigned k_step = IndexBatch::k_size * threads;
#pragma unroll 1
    for (unsigned base = threadIdx.x; base < k_vectors; base += k_step) {
      if (base != threadIdx.x) {
        batch.load(base, threads);
      }
#pragma unroll
      for (unsigned item = 0; item < IndexBatch::k_size; ++item) {
        const unsigned vector = base + item * threads;
        if (vector < k_vectors) {
#pragma unroll 1
          for (unsigned period = 0; period < k_periods; ++period) {
            put(period, vector, batch.of[item]);
          }
        }
      }
    }
  }
}

/// Vectors that a warp writes at once where it puts each together from two: its first thread only has one.
constexpr unsigned k_put_together = 31;

/// The vector of a lane of output that a thread gathers first; before the first one there is none.
__device__ __forceinline__ unsigned first_moved() { return threadIdx.x / 32 * k_put_together + threadIdx.x % 32 - 1; }

/// The vector of y in which vector `vector` of each lane of output starts, or which it fills; behind the last, the one
/// in which that ends. All threads of a warp call it, with neighbouring vectors.
__device__ __forceinline__ void put_moved(const Tile& tile, unsigned start, unsigned vector, const Indices& indices) {
  const TileLanes here = gather_vectors(start, vector < k_vectors_out ? vector / k_vectors : 0, indices);
  const int end = static_cast<int>(tile.rows * k_row_out);
#pragma unroll
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const int lane_start = static_cast<int>(lane * k_lane_out);
    const int lane_bytes =
        end - lane_start < static_cast<int>(k_lane_out) ? end - lane_start : static_cast<int>(k_lane_out);
    unsigned char* to = tile.y + lane_start;
    const unsigned phase = phase_of(tile.y + (k_lane_out % 16 == 0 ? 0 : lane_start));
    const Vector before = from_thread_before(here.of[lane]);
    const uint4 bytes = bits_of(realign<element>(before, here.of[lane], phase));
    const int at = static_cast<int>(vector * 16 - phase);
    if (threadIdx.x % 32 != 0 && vector <= k_vectors_out) {
      if (at >= 0 && at + 16 <= lane_bytes) {
        store_streaming(to + at, bytes);
      } else if (at < 0) {
        const int count = at + 16 < lane_bytes ? at + 16 : lane_bytes;
        if (count > 0) {
          store_first<element>(to, bits_of(here.of[lane]), static_cast<unsigned>(count));
        }
      } else if (at < lane_bytes) {
        store_first<element>(to + at, bytes, static_cast<unsigned>(lane_bytes - at));
      }
    }
  }
}

__device__ __forceinline__ void write_moved(const Tile& tile, unsigned start, IndexBatch& batch) {
  constexpr unsigned k_chunks = k_vectors_out / k_put_together + 1;
  constexpr unsigned k_step = k_warps * k_put_together;
  const unsigned warp = threadIdx.x / 32;
  if (warp < k_warps) {
#pragma unroll 1
    for (unsigned base = 0; base * k_warps + warp < k_chunks; base += IndexBatch::k_size) {
      if (base != 0) {
        batch.load(first_moved() + base * k_step, k_step);
      }
#pragma unroll
      for (unsigned item = 0; item < IndexBatch::k_size; ++item) {
        if ((base + item) * k_warps + warp < k_chunks) {
          put_moved(tile, start, first_moved() + (base + item) * k_step, batch.of[item]);
        }
      }
    }
  }
}

/// The first of a thread's indices, for `write`.
__device__ __forceinline__ IndexBatch first_batch(bool aligned) {
  const unsigned first = aligned ? threadIdx.x : first_moved();
  IndexBatch batch;
  batch.load(k_is_fixed && aligned ? first % k_vectors : first, aligned ? threads : k_warps * k_put_together);
  return batch;
}

__device__ __forceinline__ void write(const Tile& tile, bool aligned, unsigned start, IndexBatch& batch) {
  if (aligned) {
    write_aligned(tile.y, start, batch);
  } else {
    write_moved(tile, start, batch);
  }
}

}  // namespace kiln
