// A tile of lines, as the template permute_rows describes it. All sizes are bytes unless they say otherwise.
#pragma once

#include "kiln/ending.cuh"
#include "kiln/lanes.cuh"
#include "kiln/values.h"

extern __shared__ uint4 kiln_shared[];

namespace kiln {

// Of y: what a unit becomes, and what addresses are aligned to.
using output = typename EitherOf<has_ending, to::Bits, unit>::Type;
using output_element = typename EitherOf<has_ending, to::Bits, element>::Type;

constexpr unsigned k_row_in = row_in * sizeof(unit);
constexpr unsigned k_row_out = row_out * sizeof(output);
constexpr unsigned k_line_in = line_rows * k_row_in;
constexpr unsigned k_line_out = line_rows * k_row_out;

// A line starts anywhere in its first vector that elements let it.
constexpr unsigned k_most_phase = sizeof(element) < 16 ? 16 - sizeof(element) : 0;
constexpr unsigned k_line_room = (k_most_phase + k_line_in + 15) / 16 * 16;  // of shared memory
constexpr unsigned k_line_vectors = (k_line_in + 15) / 16;                   // of one that starts with a vector
constexpr unsigned k_vectors_out = (k_line_out + 15) / 16;                   // the last may be a part of one

constexpr unsigned k_block_room = (threads + 31) / 32 * 32;
constexpr unsigned k_blocks = k_block_room < resident_threads ? resident_threads / k_block_room : 1;

/// What there is of a tile.
struct Tile {
  unsigned char* y;            // the first line
  const unsigned char* x;      // the first line
  unsigned rows;               // all in all
  unsigned lines;              // the last of them may lack some rows
  const unsigned char* begin;  // x can be read from there
  const unsigned char* end;    // up to there

  __device__ __forceinline__ unsigned rows_of(unsigned line) const {
    if constexpr (line_rows == 1) {
      return 1;
    } else {
      const unsigned left = rows - line * line_rows;
      return left < line_rows ? left : line_rows;
    }
  }
  __device__ __forceinline__ unsigned char* y_of(unsigned line) const { return y + line * stride_out; }
  __device__ __forceinline__ const unsigned char* x_of(unsigned line) const { return x + line * stride_in; }
};

/// The tile that starts with row `first` of `all`.
__device__ __forceinline__ Tile tile_of(unsigned char* y, const unsigned char* x, unsigned long long first,
                                        unsigned long long all) {
  constexpr unsigned k_most = lines_per_tile * line_rows;
  const unsigned long long left = all - first;
  const unsigned long long line = first / line_rows;
  const unsigned long long last = (all - 1) / line_rows;
  Tile tile;
  tile.y = y + line * stride_out;
  tile.x = x + line * stride_in;
  tile.rows = left < k_most ? static_cast<unsigned>(left) : k_most;
  tile.lines = (tile.rows + line_rows - 1) / line_rows;
  tile.begin = x;
  tile.end = x + last * stride_in + (all - last * line_rows) * k_row_in;
  return tile;
}

__device__ __forceinline__ unsigned char* shared_tile() { return reinterpret_cast<unsigned char*>(kiln_shared); }

/// From x. In place others write beside what is read.
template <typename T>
__device__ __forceinline__ T load_input(const void* address) {
  if constexpr (in_place) {
    return load<T>(address);
  } else {
    return load_constant<T>(address);
  }
}

}  // namespace kiln
