// A tile of y out of shared memory.
#pragma once

#include "kiln/index_table.cuh"
#include "kiln/table_source.cuh"
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
      of[item].load(packed_table(), k_periods == 1 ? (vector < k_vectors ? vector : 0) : vector % k_vectors);
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

/// The vector of y in which vector `vector` of each lane of output starts, or which it fills, if all of it is the
/// lane's. All threads of a warp call it, with neighbouring vectors.
__device__ __forceinline__ void put_moved(const Tile& tile, unsigned start, unsigned vector, const Indices& indices) {
  const TileLanes here = gather_vectors(start, vector < k_vectors_out ? vector / k_vectors : 0, indices);
#pragma unroll
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const Vector before = from_thread_before(here.of[lane]);
    const uint4 bytes = bits_of(realign<element>(before, here.of[lane], tile.phase_out(lane)));
    const int at = static_cast<int>(vector * 16 - tile.phase_out(lane));
    if (threadIdx.x % 32 != 0 && at >= 0 && at + 16 <= tile.bytes_out(lane)) {
      store_streaming(tile.y + lane * k_lane_out + at, bytes);
    }
  }
}

/// What of each lane of output is in no whole vector of y, element by element: by the last threads, whose warps have
/// the fewest vectors.
__device__ __forceinline__ void write_edges(const Tile& tile, unsigned start) {
  constexpr unsigned k_size = sizeof(element);
  constexpr unsigned k_of_lane = 2 * 16 / k_size;  // a vector's at either end
  constexpr unsigned k_period_out = k_periods == 1 ? k_lane_out : k_vectors * 16;
#pragma unroll 1
  for (unsigned item = threads - 1 - threadIdx.x; item < lanes * k_of_lane; item += threads) {
    const unsigned lane = item / k_of_lane;
    const int bytes = tile.bytes_out(lane);
    const int phase = static_cast<int>(tile.phase_out(lane));
    const int head = (16 - phase) % 16;
    const int tail = bytes - (bytes + phase) % 16;
    const int of_side = static_cast<int>(item % (k_of_lane / 2) * k_size);
    const bool is_head = item % k_of_lane < k_of_lane / 2;
    const int at = is_head ? of_side : (tail < head ? head : tail) + of_side;
    if (at < bytes && (!is_head || at < head)) {
      const unsigned period = static_cast<unsigned>(at) / k_period_out;
      const unsigned of_period = static_cast<unsigned>(at) % k_period_out;
      const unsigned from = table_entry<index_bits>(packed_table(), of_period / sizeof(unit)) * sizeof(unit);
      const unsigned place = place_in_lanes<unit, lanes>(lane, period * k_period_in + from + of_period % sizeof(unit));
      store(tile.y + lane * k_lane_out + at, load<element>(shared_tile() + swizzled(start + place)));
    }
  }
}

__device__ __forceinline__ void write_moved(const Tile& tile, unsigned start, IndexBatch& batch) {
  constexpr unsigned k_chunks = k_vectors_out / k_put_together + 1;
  constexpr unsigned k_step = k_warps * k_put_together;
  // Where vectors of lanes are whole, this is for y that is not aligned, and has no code in long.
  constexpr unsigned k_batch = k_lane_out % 16 == 0 ? 1 : IndexBatch::k_size;
  // First: where what follows the warps' exchange of vectors is no end, they are compiled to wait for each other.
  write_edges(tile, start);
  const unsigned warp = threadIdx.x / 32;
  if (warp < k_warps) {
#pragma unroll 1
    for (unsigned base = 0; base * k_warps + warp < k_chunks; base += k_batch) {
      if (base != 0) {
        batch.load(first_moved() + base * k_step, k_step);
      }
#pragma unroll
      for (unsigned item = 0; item < k_batch; ++item) {
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
