// A tile of x into shared memory.
#pragma once

#include "kiln/slots.cuh"
#include "kiln/tile.cuh"

namespace kiln {

__device__ __forceinline__ Vector load_vector(const Tile& tile, int at) {
  return tile.has_vector(at) ? vector_of(load_constant<uint4>(tile.x + at))
                             : load_part<element>(tile.x, at, tile.before, tile.behind);
}

__device__ __forceinline__ void keep(unsigned vector, const Vector& bytes) {
  store(shared_tile() + swizzled(vector * 16), bits_of(bytes));
}
__device__ __forceinline__ void keep_lanes(unsigned slot, const TileLanes& found) {
  const TileLanes words = interleave<unit>(found);
#pragma unroll
  for (unsigned chunk = 0; chunk < lanes; ++chunk) {
    keep(slot * lanes + chunk, words.of[chunk]);
  }
}

/// A whole tile that is aligned.
__device__ __forceinline__ void read_aligned(const unsigned char* x) {
  if constexpr (asynchronous && lanes == 1) {
#pragma unroll 4
    for (unsigned vector = threadIdx.x; vector < k_vectors_in; vector += threads) {
      copy_asynchronously(shared_tile() + swizzled(vector * 16), x + vector * 16);
    }
    wait_for_copies();
  } else {
    auto load = [&](unsigned slot) {
      TileLanes held;
#pragma unroll
      for (unsigned lane = 0; lane < lanes; ++lane) {
        held.of[lane] = vector_of(load_constant<uint4>(x + lane * k_lane_in + slot * 16));
      }
      return held;
    };
    for_each_slot<k_vectors_in, threads, 4 / lanes, TileLanes>(k_vectors_in, load, keep_lanes);
  }
}

/// With one lane, any tile: the aligned vectors that it lies in, the first `phase` bytes being another's.
__device__ __forceinline__ void read_as_it_is(const Tile& tile, unsigned phase) {
  const unsigned count = (phase + tile.rows * k_row_in + 15) / 16;
  auto place = [&](unsigned vector) { return static_cast<int>(vector * 16 - phase); };
  if constexpr (asynchronous) {
#pragma unroll 1
    for (unsigned vector = threadIdx.x; vector < count; vector += threads) {
      if (tile.has_vector(place(vector))) {
        copy_asynchronously(shared_tile() + swizzled(vector * 16), tile.x + place(vector));
      } else {
        keep(vector, load_vector(tile, place(vector)));
      }
    }
    wait_for_copies();
  } else {
    auto load = [&](unsigned vector) { return load_vector(tile, place(vector)); };
    for_each_slot<k_vectors_in + 1, threads, 4, Vector>(count, load, keep);
  }
}

/// Any tile, each lane moved so that it starts with a vector.
__device__ __forceinline__ void read_moved(const Tile& tile) {
  struct Held {
    TileLanes low;
    TileLanes high;
  };
  auto start = [](unsigned lane) { return static_cast<int>(lane * k_lane_in); };
  auto phase = [&](unsigned lane) { return phase_of(tile.x + (k_lane_in % 16 == 0 ? 0 : start(lane))); };
  auto load = [&](unsigned slot) {
    Held held;
#pragma unroll
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const int at = start(lane) + static_cast<int>(slot * 16 - phase(lane));
      held.low.of[lane] = load_vector(tile, at);
      held.high.of[lane] = load_vector(tile, at + 16);
    }
    return held;
  };
  auto keep_moved = [&](unsigned slot, const Held& held) {
    TileLanes found;
#pragma unroll
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const Vector& low = held.low.of[lane];
      found.of[lane] = phase(lane) == 0 ? low : realign<element>(low, held.high.of[lane], 16 - phase(lane));
    }
    keep_lanes(slot, found);
  };
  for_each_slot<k_vectors_in, threads, lanes == 1 ? 2 : 1, Held>(k_vectors_in, load, keep_moved);
}

/// Returns where in shared memory the tile starts. Needs a barrier after.
__device__ __forceinline__ unsigned read(const Tile& tile) {
  const unsigned phase = phase_of(tile.x);
  if (k_lane_in % 16 == 0 && phase == 0 && tile.is_whole()) {
    read_aligned(tile.x);
    return 0;
  }
  if constexpr (lanes == 1) {
    if (phase % sizeof(unit) == 0) {
      read_as_it_is(tile, phase);
      return phase;
    }
    if constexpr (sizeof(element) < sizeof(unit)) {
      read_moved(tile);
    }
  } else {
    read_moved(tile);
  }
  return 0;
}

}  // namespace kiln
