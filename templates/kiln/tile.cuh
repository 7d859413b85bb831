// The shape of a staged tile, as the template permute_staged describes it. All sizes are bytes unless they say
// otherwise.
#pragma once

#include "kiln/lanes.cuh"
#include "kiln/values.h"

extern __shared__ uint4 kiln_shared[];

namespace kiln {

constexpr unsigned k_row_in = row_in * sizeof(unit);
constexpr unsigned k_row_out = row_out * sizeof(unit);
constexpr unsigned k_lane_rows = rows_per_tile / lanes;  // rows
constexpr unsigned k_lane_in = k_lane_rows * k_row_in;
constexpr unsigned k_lane_out = k_lane_rows * k_row_out;
constexpr unsigned k_tile_in = lanes * k_lane_in;
constexpr unsigned k_period_in = period_rows * k_row_in;

constexpr unsigned k_periods = k_lane_rows / period_rows;  // of a lane
constexpr unsigned k_vectors_in = (k_lane_in + 15) / 16;   // of a lane; the last may be a part of one
constexpr unsigned k_vectors_out = (k_lane_out + 15) / 16;
constexpr unsigned k_vectors = k_vectors_out / k_periods;  // of a period of output
static_assert(k_periods == 1 || k_periods * k_vectors * 16 == k_lane_out, "periods make whole vectors");

constexpr unsigned k_resident = KILN_RESIDENT_THREADS < resident_threads ? KILN_RESIDENT_THREADS : resident_threads;
constexpr unsigned k_warps = threads / 32;  // whole ones
constexpr unsigned k_block_room = (threads + 31) / 32 * 32;
constexpr unsigned k_blocks = k_block_room < k_resident ? k_resident / k_block_room : 1;  // of a multiprocessor

using TileLanes = LaneVectors<lanes>;

/// What there is of a tile: its rows may be fewer than rows_per_tile.
struct Tile {
  unsigned char* y;
  const unsigned char* x;
  unsigned rows;
  int first;   // of the aligned vectors that are x's own, counted from the tile's first byte: the first that is of use,
  int behind;  // and what is behind the last; there may be none

  __device__ __forceinline__ bool is_whole() const { return rows == rows_per_tile; }
  __device__ __forceinline__ int bytes_in() const { return static_cast<int>(rows * k_row_in); }
  /// Of a lane; negative where it begins behind the tile's rows.
  __device__ __forceinline__ int bytes_out(unsigned lane) const {
    const int left = static_cast<int>(rows * k_row_out) - static_cast<int>(lane * k_lane_out);
    return left < static_cast<int>(k_lane_out) ? left : static_cast<int>(k_lane_out);
  }
  __device__ __forceinline__ unsigned phase_out(unsigned lane) const {
    return phase_of(y + (k_lane_out % 16 == 0 ? 0 : lane * k_lane_out));
  }
  __device__ __forceinline__ bool has_vectors() const { return first < behind; }
  /// The vector at `at`, which is aligned; one that is not x's own has any bytes of x.
  __device__ __forceinline__ const unsigned char* vector(int at) const {
    return x + (at < first ? first : at < behind ? at : behind - 16);
  }
};

/// The tile that starts with row `first` of `rows`.
__device__ __forceinline__ Tile tile_of(unsigned char* y, const unsigned char* x, unsigned long long first,
                                        unsigned long long rows) {
  constexpr unsigned k_behind = k_tile_in + 64;  // more than is looked at
  const unsigned long long left = rows - first;
  Tile tile;
  tile.y = y + first * k_row_out;
  tile.x = x + first * k_row_in;
  tile.rows = left < rows_per_tile ? static_cast<unsigned>(left) : rows_per_tile;
  const int phase = static_cast<int>(phase_of(tile.x));
  const int begin = first == 0 ? 0 : -static_cast<int>(k_row_in < 16 ? k_row_in : 16);
  const int end = static_cast<int>(left <= k_behind / k_row_in ? static_cast<unsigned>(left) * k_row_in : k_behind);
  tile.first = (begin + phase + 15) / 16 * 16 - phase;
  tile.behind = (end + phase) / 16 * 16 - phase;
  return tile;
}

__device__ __forceinline__ unsigned char* shared_tile() { return reinterpret_cast<unsigned char*>(kiln_shared); }

}  // namespace kiln
