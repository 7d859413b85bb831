// A tile of lines of x into shared memory.
#pragma once

#include "kiln/lines.cuh"
#include "kiln/slots.cuh"

namespace kiln {

/// The vector at an aligned address; what of it lies before or behind x is 0 and not read.
__device__ __forceinline__ Vector load_vector(const Tile& tile, const unsigned char* address) {
  if (address >= tile.begin && address + 16 <= tile.end) {
    return vector_of(load_input<uint4>(address));
  }
  const long long begin = tile.begin - address;
  const long long end = tile.end - address;
  return load_part<element, !in_place>(address, 0, begin > 0 ? static_cast<int>(begin) : 0,
                                       end < 16 ? static_cast<int>(end) : 16);
}

/// How far line `line` is behind the last address before it that is aligned to vectors.
__device__ __forceinline__ unsigned phase_of_line(const Tile& tile, unsigned line) {
  return stride_in % 16 == 0 ? phase_of(tile.x) : phase_of(tile.x_of(line));
}

/// Can units be read from shared memory when it holds vectors as they are?
__device__ __forceinline__ bool has_whole_units(const Tile& tile) {
  return sizeof(element) == sizeof(unit) || (stride_in % sizeof(unit) == 0 && is_aligned(tile.x, sizeof(unit)));
}

/// The aligned vectors that each line lies in, at most Vectors of them.
template <unsigned Vectors>
__device__ __forceinline__ void read_as_it_is(const Tile& tile) {
  auto bytes = [&](unsigned line) { return phase_of_line(tile, line) + tile.rows_of(line) * k_row_in; };
  auto address = [&](unsigned line, unsigned vector) {
    return tile.x_of(line) - phase_of_line(tile, line) + vector * 16;
  };
  auto place = [](unsigned line, unsigned vector) {
    return shared_tile() + swizzled(line * k_line_room + vector * 16);
  };
  if constexpr (asynchronous) {
#pragma unroll 1
    for (unsigned slot = threadIdx.x; slot < tile.lines * Vectors; slot += threads) {
      const unsigned line = slot / Vectors;
      const unsigned vector = slot % Vectors;
      if (vector * 16 < bytes(line)) {
        const unsigned char* from = address(line, vector);
        if (from >= tile.begin && from + 16 <= tile.end) {
          copy_asynchronously(place(line, vector), from);
        } else {
          store(place(line, vector), bits_of(load_vector(tile, from)));
        }
      }
    }
    wait_for_copies();
  } else {
    auto load = [&](unsigned slot) {
      const unsigned line = slot / Vectors;
      const unsigned vector = slot % Vectors;
      return vector * 16 < bytes(line) ? load_vector(tile, address(line, vector)) : Vector{};
    };
    auto keep = [&](unsigned slot, const Vector& held) { store(place(slot / Vectors, slot % Vectors), bits_of(held)); };
    for_each_slot<lines_per_tile * Vectors, threads, 4, Vector>(tile.lines * Vectors, load, keep);
  }
}

/// Each line moved so that it starts with a vector.
__device__ __forceinline__ void read_moved(const Tile& tile) {
  struct Held {
    Vector low;
    Vector high;
  };
  auto load = [&](unsigned slot) {
    const unsigned line = slot / k_line_vectors;
    const unsigned at = slot % k_line_vectors * 16;
    const unsigned phase = phase_of_line(tile, line);
    const unsigned bytes = tile.rows_of(line) * k_row_in;
    const unsigned char* from = tile.x_of(line) - phase + at;
    Held held = {};
    if (at < bytes) {
      held.low = load_vector(tile, from);
    }
    if (at + 16 < phase + bytes) {
      held.high = load_vector(tile, from + 16);
    }
    return held;
  };
  auto keep = [&](unsigned slot, const Held& held) {
    const unsigned line = slot / k_line_vectors;
    const unsigned phase = phase_of_line(tile, line);
    const Vector bytes = phase == 0 ? held.low : realign<element>(held.low, held.high, 16 - phase);
    store(shared_tile() + swizzled(line * k_line_room + slot % k_line_vectors * 16), bits_of(bytes));
  };
  for_each_slot<lines_per_tile * k_line_vectors, threads, 2, Held>(tile.lines * k_line_vectors, load, keep);
}

/// Needs a barrier after.
__device__ __forceinline__ void read(const Tile& tile) {
  if (has_whole_units(tile)) {
    if (k_most_phase == 0 || (stride_in % 16 == 0 && is_aligned(tile.x, 16))) {
      read_as_it_is<k_line_vectors>(tile);
    } else if constexpr (k_most_phase != 0) {
      read_as_it_is<k_line_room / 16>(tile);
    }
  } else if constexpr (sizeof(element) < sizeof(unit)) {
    read_moved(tile);
  }
}

/// Where in shared memory line `line` starts.
__device__ __forceinline__ unsigned start_of(const Tile& tile, unsigned line, bool whole_units) {
  return line * k_line_room + (whole_units ? phase_of_line(tile, line) : 0);
}

}  // namespace kiln
