// A tile of lines of x into shared memory.
#pragma once

#include "kiln/lines.cuh"
#include "kiln/slots.cuh"

namespace kiln {

__device__ __forceinline__ Vector load_vector(const Tile& tile, const unsigned char* address) {
  return vector_of(load_input<uint4>(tile.vector(address)));
}

/// Can units be read from shared memory when it holds vectors as they are?
__device__ __forceinline__ bool has_whole_units(const Tile& tile) {
  return sizeof(element) == sizeof(unit) || is_aligned(tile.x, sizeof(unit));
}

/// Where vector `vector` of a piece stands in shared memory, in vectors of one lane.
__device__ __forceinline__ unsigned place_of(unsigned piece, unsigned vector) {
  return piece * k_room_vectors + vector;
}

__device__ __forceinline__ void keep_lanes(unsigned place, const TileLanes& found) {
  const TileLanes words = interleave<unit>(found);
#pragma unroll
  for (unsigned chunk = 0; chunk < lanes; ++chunk) {
    store(shared_tile() + swizzled((place * lanes + chunk) * 16), bits_of(words.of[chunk]));
  }
}

/// The aligned vectors that each piece lies in.
__device__ __forceinline__ void read_as_it_is(const Tile& tile) {
  const auto is_of = [&](unsigned slot) {
    const unsigned piece = slot / k_room_vectors;
    return slot % k_room_vectors * 16 < tile.phase_in(piece) + k_piece_in;
  };
  const auto from = [&](unsigned lane, unsigned slot) {
    const unsigned piece = slot / k_room_vectors;
    return tile.x_of(lane, piece) - tile.phase_in(piece) + slot % k_room_vectors * 16;
  };
  if constexpr (asynchronous && lanes == 1) {
#pragma unroll 4
    for (unsigned slot = threadIdx.x; slot < k_pieces * k_room_vectors; slot += threads) {
      if (is_of(slot)) {
        copy_asynchronously(shared_tile() + swizzled(slot * 16), tile.vector(from(0, slot)));
      }
    }
    wait_for_copies();
  } else {
    const auto load = [&](unsigned slot) {
      TileLanes held = {};
      if (is_of(slot)) {
#pragma unroll
        for (unsigned lane = 0; lane < lanes; ++lane) {
          held.of[lane] = load_vector(tile, from(lane, slot));
        }
      }
      return held;
    };
    for_each_slot<k_pieces * k_room_vectors, threads, 4 / lanes, TileLanes>(k_pieces * k_room_vectors, load,
                                                                            keep_lanes);
  }
}

/// Each piece moved so that it starts with a vector.
__device__ __forceinline__ void read_moved(const Tile& tile) {
  struct Held {
    TileLanes low;
    TileLanes high;
  };
  const auto load = [&](unsigned slot) {
    const unsigned piece = slot / k_piece_vectors;
    const unsigned at = slot % k_piece_vectors * 16;
    const unsigned phase = tile.phase_in(piece);
    Held held = {};
#pragma unroll
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned char* from = tile.x_of(lane, piece) - phase + at;
      held.low.of[lane] = load_vector(tile, from);
      if (at + 16 < phase + k_piece_in) {
        held.high.of[lane] = load_vector(tile, from + 16);
      }
    }
    return held;
  };
  const auto keep = [&](unsigned slot, const Held& held) {
    const unsigned piece = slot / k_piece_vectors;
    const unsigned phase = tile.phase_in(piece);
    TileLanes moved;
#pragma unroll
    for (unsigned lane = 0; lane < lanes; ++lane) {
      moved.of[lane] =
          phase == 0 ? held.low.of[lane] : realign<element>(held.low.of[lane], held.high.of[lane], 16 - phase);
    }
    keep_lanes(place_of(piece, slot % k_piece_vectors), moved);
  };
  for_each_slot<k_pieces * k_piece_vectors, threads, lanes == 1 ? 2 : 1, Held>(k_pieces * k_piece_vectors, load, keep);
}

/// Where in shared memory line `line` of a lane starts, as if it were the only lane.
__device__ __forceinline__ unsigned start_of(const Tile& tile, unsigned line, bool whole_units) {
  if constexpr (k_is_run) {
    return line * static_cast<unsigned>(k_stride_in) + (whole_units ? tile.phase_in(0) : 0);
  } else {
    return line * k_room_vectors * 16 + (whole_units ? tile.phase_in(line) : 0);
  }
}

/// What of x is in no vector that is its own, element by element: less than a vector where it begins and where it ends.
__device__ __forceinline__ void read_edges(const Tile& tile, bool whole_units) {
  constexpr unsigned k_size = sizeof(element);
  constexpr unsigned k_most = 32 / k_size;
  const unsigned char* first = tile.first_vector() < tile.end ? tile.first_vector() : tile.end;
  const unsigned char* behind = first < tile.behind_vectors() ? tile.behind_vectors() : first;
  const unsigned head = static_cast<unsigned>(first - tile.begin);
#pragma unroll 1
  for (unsigned item = threadIdx.x; item < k_most; item += threads) {
    const unsigned byte = item * k_size;
    const unsigned char* from = byte < head ? tile.begin + byte : behind + (byte - head);
    if (from >= tile.x && from < tile.end) {
      const unsigned long long at = from - tile.x;
      const unsigned long long line = at / k_stride_in;
      const unsigned lane = static_cast<unsigned>(line / lane_distance);
      const unsigned of_lane = static_cast<unsigned>(line % lane_distance);
      const unsigned of_line = static_cast<unsigned>(at % k_stride_in);
      if (line < lanes * lane_distance && of_lane < lane_lines && of_line < k_line_in) {
        const unsigned place = start_of(tile, of_lane, whole_units) + of_line;
        store(shared_tile() + swizzled(place_in_lanes<unit, lanes>(lane, place)), load_input<element>(from));
      }
    }
  }
}

/// Needs a barrier after.
__device__ __forceinline__ void read(const Tile& tile) {
  const bool whole_units = has_whole_units(tile);
  if (tile.inside || tile.first_vector() < tile.behind_vectors()) {
    if (whole_units) {
      read_as_it_is(tile);
    } else if constexpr (sizeof(element) < sizeof(unit)) {
      read_moved(tile);
    }
  }
  if (!tile.inside) {
    __syncthreads();  // for what the vectors that were read instead have put there
    read_edges(tile, whole_units);
  }
}

}  // namespace kiln
