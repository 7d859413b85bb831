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
constexpr unsigned long long k_stride_in = line_rows * stride_in;  // of lines
constexpr unsigned long long k_stride_out = line_rows * stride_out;

/// Of so many rows, with what stands between them.
__device__ __forceinline__ constexpr unsigned bytes_in_of(unsigned rows) {
  return rows == 0 ? 0 : (rows - 1) * static_cast<unsigned>(stride_in) + k_row_in;
}
__device__ __forceinline__ constexpr unsigned bytes_out_of(unsigned rows) {
  return rows == 0 ? 0 : (rows - 1) * static_cast<unsigned>(stride_out) + k_row_out;
}
constexpr unsigned k_line_in = bytes_in_of(line_rows);
constexpr unsigned k_line_out = bytes_out_of(line_rows);
static_assert(lanes == 1 || (lane_distance * k_stride_in % 16 == 0 && lane_distance * k_stride_out % 16 == 0),
              "what is aligned in one lane is so in all");

// What is read in one go of each lane: a line, or all of them where no whole sector stands between two.
constexpr bool k_is_run = k_stride_in - k_line_in < 32;
constexpr unsigned k_pieces = k_is_run ? 1 : lane_lines;  // of a lane
constexpr unsigned k_piece_in = k_is_run ? bytes_in_of(lane_lines * line_rows) : k_line_in;

// A piece starts anywhere in its first vector that elements let it.
constexpr unsigned k_most_phase = sizeof(element) < 16 ? 16 - sizeof(element) : 0;
constexpr unsigned k_piece_vectors = (k_piece_in + 15) / 16;                // of one that starts with a vector
constexpr unsigned k_room_vectors = (k_most_phase + k_piece_in + 15) / 16;  // of shared memory

// So does a line of y.
constexpr unsigned k_most_phase_out = sizeof(output_element) < 16 ? 16 - sizeof(output_element) : 0;
constexpr unsigned k_vectors_out = (k_line_out + 15) / 16;  // the last may be a part of one
constexpr unsigned k_moved_vectors = (k_most_phase_out + k_line_out + 15) / 16;

constexpr unsigned k_block_room = (threads + 31) / 32 * 32;
constexpr unsigned k_resident = KILN_RESIDENT_THREADS < resident_threads ? KILN_RESIDENT_THREADS : resident_threads;
constexpr unsigned k_blocks = k_block_room < k_resident ? k_resident / k_block_room : 1;

using TileLanes = LaneVectors<lanes>;

/// What there is of a tile.
struct Tile {
  unsigned char* y;            // the first line of the first lane
  const unsigned char* x;      // the first line of the first lane
  unsigned rows;               // from there on; what is behind the tile and what a vector reaches is not counted
  bool inside;                 // x has all vectors that reach into a line
  const unsigned char* begin;  // of x
  const unsigned char* end;

  /// Of `most` rows of a lane from line `line` on.
  __device__ __forceinline__ unsigned rows_of(unsigned lane, unsigned line, unsigned most) const {
    const unsigned before = (lane * lane_distance + line) * line_rows;
    const unsigned left = rows > before ? rows - before : 0;
    return left < most ? left : most;
  }
  __device__ __forceinline__ unsigned bytes_out(unsigned lane, unsigned line) const {
    return inside ? k_line_out : bytes_out_of(rows_of(lane, line, line_rows));
  }
  __device__ __forceinline__ unsigned char* y_of(unsigned lane, unsigned line) const {
    return y + (static_cast<unsigned long long>(lane) * lane_distance + line) * k_stride_out;
  }
  __device__ __forceinline__ const unsigned char* x_of(unsigned lane, unsigned piece) const {
    return x + (static_cast<unsigned long long>(lane) * lane_distance + piece) * k_stride_in;
  }

  // The aligned vectors that are x's own lie there; there may be none.
  __device__ __forceinline__ const unsigned char* first_vector() const { return begin + (0u - phase_of(begin)) % 16; }
  __device__ __forceinline__ const unsigned char* behind_vectors() const { return end - phase_of(end); }
  /// An aligned vector, or, if it is not x's own, any that is.
  __device__ __forceinline__ const unsigned char* vector(const unsigned char* address) const {
    if (inside) {
      return address;
    }
    const unsigned char* least = first_vector();
    const unsigned char* most = behind_vectors() - 16;
    return address < least ? least : address < most ? address : most;
  }

  /// How far a piece of x or a line of y is behind the last address before it that is aligned to vectors, in all lanes.
  __device__ __forceinline__ unsigned phase_in(unsigned piece) const {
    return phase_of(k_stride_in % 16 == 0 ? x : x + piece * k_stride_in);
  }
  __device__ __forceinline__ unsigned phase_out(unsigned line) const {
    return phase_of(k_stride_out % 16 == 0 ? y : y + line * k_stride_out);
  }
};

/// Tile `number` of `all` rows; it has no rows where there are fewer tiles. The lanes of neighbouring tiles are
/// neighbours.
__device__ __forceinline__ Tile tile_of(unsigned char* y, const unsigned char* x, unsigned long long number,
                                        unsigned long long all) {
  constexpr unsigned k_neighbours = lane_distance / lane_lines;
  constexpr unsigned k_reach = ((lanes - 1) * lane_distance + lane_lines) * line_rows;
  constexpr unsigned k_margin = 15 / static_cast<unsigned>(stride_in) + 1;  // rows that have what a vector reaches
  constexpr unsigned k_most = k_reach + k_margin + 1;
  const unsigned long long first =
      (number / k_neighbours * (lanes * lane_distance) + number % k_neighbours * lane_lines) * line_rows;
  const unsigned long long left = first < all ? all - first : 0;
  Tile tile;
  tile.y = y + first * stride_out;
  tile.x = x + first * stride_in;
  tile.rows = left < k_most ? static_cast<unsigned>(left) : k_most;
  tile.inside = first >= k_margin && left >= k_most;
  tile.begin = x;
  tile.end = x + (all - 1) * stride_in + k_row_in;
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
