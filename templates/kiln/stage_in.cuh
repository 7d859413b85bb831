// A tile of x into shared memory.
#pragma once

#include "kiln/slots.cuh"
#include "kiln/tile.cuh"

namespace kiln {

__device__ __forceinline__ Vector load_vector(const Tile& tile, int at) {
  return vector_of(load_constant<uint4>(tile.vector(at)));
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

/// Any tile whose lanes are equally far from a vector's start: the aligned vectors that each lies in, the first `phase`
/// bytes being another's.
__device__ __forceinline__ void read_as_it_is(const Tile& tile, unsigned phase) {
  const unsigned bytes = lanes == 1 ? tile.bytes_in() : k_lane_in;  // of a lane; what is not there is read as well
  const unsigned count = (phase + bytes + 15) / 16;
  auto place = [&](unsigned lane, unsigned vector) {
    return static_cast<int>(lane * k_lane_in) + static_cast<int>(vector * 16 - phase);
  };
  if constexpr (asynchronous && lanes == 1) {
#pragma unroll 1
    for (unsigned vector = threadIdx.x; vector < count; vector += threads) {
      copy_asynchronously(shared_tile() + swizzled(vector * 16), tile.vector(place(0, vector)));
    }
    wait_for_copies();
  } else {
    auto load = [&](unsigned vector) {
      TileLanes held;
#pragma unroll
      for (unsigned lane = 0; lane < lanes; ++lane) {
        held.of[lane] = load_vector(tile, place(lane, vector));
      }
      return held;
    };
    for_each_slot<k_vectors_in + 1, threads, 4 / lanes, TileLanes>(count, load, keep_lanes);
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

/// What of the tile is in no vector that is x's own, element by element. `start`: where in shared memory the tile
/// starts.
__device__ __forceinline__ void read_edges(const Tile& tile, unsigned start) {
  const int bytes = tile.bytes_in();
  const int head = tile.first < 0 ? 0 : tile.first < bytes ? tile.first : bytes;
  const int tail = tile.behind < head ? head : tile.behind < bytes ? tile.behind : bytes;
  if (head == 0 && tail == bytes) {
    return;
  }
  __syncthreads();  // for what the vectors that were read instead have put there
  constexpr int k_size = sizeof(element);
#pragma unroll 1
  for (int item = static_cast<int>(threadIdx.x) * k_size; item < head + bytes - tail;
       item += static_cast<int>(threads) * k_size) {
    const unsigned at = static_cast<unsigned>(item < head ? item : item - head + tail);
    store(shared_tile() + swizzled(start + place_in_lanes<unit, lanes>(at / k_lane_in, at % k_lane_in)),
          load_constant<element>(tile.x + at));
  }
}

/// Returns where in shared memory the tile starts. Needs a barrier after.
__device__ __forceinline__ unsigned read(const Tile& tile) {
  const unsigned phase = phase_of(tile.x);
  if (k_lane_in % 16 == 0 && phase == 0 && tile.is_whole()) {
    read_aligned(tile.x);
    return 0;
  }
  constexpr bool k_are_alike = lanes == 1 || k_lane_in % 16 == 0;
  const bool as_it_is = k_are_alike && phase % sizeof(unit) == 0;
  if (tile.has_vectors()) {
    if constexpr (k_are_alike) {
      if (as_it_is) {
        read_as_it_is(tile, phase);
      }
    }
    if constexpr (!k_are_alike || sizeof(element) < sizeof(unit)) {
      if (!as_it_is) {
        read_moved(tile);
      }
    }
  }
  const unsigned start = as_it_is ? phase * lanes : 0;
  read_edges(tile, start);
  return start;
}

}  // namespace kiln
