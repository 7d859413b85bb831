// A tile of lines of x into shared memory.
#pragma once

#include "kiln/lines.cuh"
#include "kiln/slots.cuh"

namespace kiln {

/// The vector at an aligned address; what of it lies before or behind x is 0 and not read.
__device__ __forceinline__ Vector load_vector(const Tile& tile, const unsigned char* address) {
  if (tile.inside || (address >= tile.begin && address + 16 <= tile.end)) {
    return vector_of(load_input<uint4>(address));
  }
  const long long begin = tile.begin - address;
  const long long end = tile.end - address;
  return load_part<element, !in_place>(address, 0, begin > 0 ? static_cast<int>(begin) : 0,
                                       end < 16 ? static_cast<int>(end) : 16);
}

/// Can units be read from shared memory when it holds vectors as they are?
__device__ __forceinline__ bool has_whole_units(const Tile& tile) {
  return sizeof(element) == sizeof(unit) || is_aligned(tile.x, sizeof(unit));
}

/// Is there anything of a piece, behind its first `at` bytes, which start `phase` before it?
__device__ __forceinline__ bool reaches(const Tile& tile, unsigned lane, unsigned piece, unsigned at, unsigned phase) {
  const unsigned bytes = tile.bytes_in(lane, piece);
  return bytes != 0 && at < phase + bytes;
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

/// The aligned vectors that each piece lies in, at most Vectors of them.
template <unsigned Vectors>
__device__ __forceinline__ void read_as_it_is(const Tile& tile) {
  constexpr bool k_is_aligned = Vectors != k_room_vectors;
  const auto phase = [&](unsigned piece) { return k_is_aligned ? 0 : tile.phase_in(piece); };
  if constexpr (asynchronous && lanes == 1) {
#pragma unroll 4
    for (unsigned slot = threadIdx.x; slot < k_pieces * Vectors; slot += threads) {
      const unsigned piece = slot / Vectors;
      const unsigned vector = slot % Vectors;
      if (reaches(tile, 0, piece, vector * 16, phase(piece))) {
        const unsigned char* from = tile.x_of(0, piece) - phase(piece) + vector * 16;
        if (tile.inside || (from >= tile.begin && from + 16 <= tile.end)) {
          copy_asynchronously(shared_tile() + swizzled(place_of(piece, vector) * 16), from);
        } else {
          keep_lanes(place_of(piece, vector), {{load_vector(tile, from)}});
        }
      }
    }
    wait_for_copies();
  } else {
    const auto load = [&](unsigned slot) {
      const unsigned piece = slot / Vectors;
      const unsigned at = slot % Vectors * 16;
      TileLanes held;
#pragma unroll
      for (unsigned lane = 0; lane < lanes; ++lane) {
        held.of[lane] = reaches(tile, lane, piece, at, phase(piece))
                            ? load_vector(tile, tile.x_of(lane, piece) - phase(piece) + at)
                            : Vector{};
      }
      return held;
    };
    const auto keep = [](unsigned slot, const TileLanes& held) {
      keep_lanes(place_of(slot / Vectors, slot % Vectors), held);
    };
    for_each_slot<k_pieces * Vectors, threads, 4 / lanes, TileLanes>(k_pieces * Vectors, load, keep);
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
      if (reaches(tile, lane, piece, at, 0)) {
        held.low.of[lane] = load_vector(tile, from);
      }
      if (reaches(tile, lane, piece, at + 16, phase)) {
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

/// Needs a barrier after.
__device__ __forceinline__ void read(const Tile& tile) {
  if (has_whole_units(tile)) {
    if (k_stride_in % 16 == 0 && is_aligned(tile.x, 16)) {
      read_as_it_is<k_piece_vectors>(tile);
    } else {
      read_as_it_is<k_room_vectors>(tile);
    }
  } else if constexpr (sizeof(element) < sizeof(unit)) {
    read_moved(tile);
  }
}

/// Where in shared memory line `line` of a lane starts, as if it were the only lane.
__device__ __forceinline__ unsigned start_of(const Tile& tile, unsigned line, bool whole_units) {
  if constexpr (k_is_run) {
    return line * static_cast<unsigned>(k_stride_in) + (whole_units ? tile.phase_in(0) : 0);
  } else {
    return line * k_room_vectors * 16 + (whole_units ? tile.phase_in(line) : 0);
  }
}

}  // namespace kiln
