// y[o, j] = x[o, map[j]], tiles of whole rows through shared memory: 16-byte loads in, a gather out of shared memory
// through a packed table, 16-byte streaming stores out. One tile a block, in grid order: the order in which pages of
// memory are touched matters more than overlapping one tile's loads with another's stores.
//
// The table covers a period: the rows after which input and output are whole 16-byte vectors again. A thread keeps the
// indices of its vector in registers over all periods of the tile.
//
// A `unit` moves as a whole; callers align their pointers to `element`. Rows have M = `row_out` units in the output, N
// = `row_in` in the input. A tile has `rows_per_tile` rows, a multiple of the period's `period_rows`. `table` holds
// period_rows * M entries of `index_bits`, packed into words, which count from the start of the period.
// `asynchronous`: shared memory is filled with cp.async, where there is that.
//
// kiln: parameter unit: type
// kiln: parameter element: type
// kiln: parameter row_out: u32
// kiln: parameter row_in: u32
// kiln: parameter rows_per_tile: u32
// kiln: parameter period_rows: u32
// kiln: parameter threads: u32
// kiln: parameter asynchronous: bool
// kiln: parameter index_bits: u32
// kiln: parameter table: u64[]
// kiln: entry permute
#include "kiln/gather.cuh"
#include "kiln/index_table.cuh"
#include "kiln/stage.cuh"
#include "kiln/values.h"

extern __shared__ uint4 kiln_shared[];

namespace {

using kiln::element;
using kiln::unit;

constexpr unsigned k_row_out_bytes = kiln::row_out * sizeof(unit);
constexpr unsigned k_row_in_bytes = kiln::row_in * sizeof(unit);
constexpr unsigned k_period_out_bytes = kiln::period_rows * k_row_out_bytes;
constexpr bool k_whole_vectors = k_period_out_bytes % 16 == 0;
constexpr unsigned k_vectors = k_period_out_bytes / 16;  // of a period

/// One unit at a time: for output that is not aligned to vectors, and for the last tile.
__device__ void write_units(unsigned char* y, const unsigned char* staged, unsigned rows) {
  const bool aligned = kiln::is_aligned(y, sizeof(unit));
#pragma unroll 1
  for (unsigned to = threadIdx.x; to < rows * kiln::row_out; to += kiln::threads) {
    const unsigned row = to / kiln::row_out;
    const unsigned from = row * kiln::row_in + kiln::table_entry<kiln::index_bits>(kiln::table, to % kiln::row_out);
    if (aligned) {
      kiln::store(y + to * sizeof(unit), kiln::load<unit>(staged + from * sizeof(unit)));
    } else {
#pragma unroll
      for (unsigned part = 0; part < sizeof(unit); part += sizeof(element)) {
        kiln::store(y + to * sizeof(unit) + part, kiln::load<element>(staged + from * sizeof(unit) + part));
      }
    }
  }
}

/// The vectors of a tile that has all of its rows; a period has that many. Where a period has fewer vectors than the
/// block has threads, groups of threads take turns with the periods, each thread with its place of the period; else all
/// threads go over it.
template <unsigned Vectors>
__device__ void write_vectors(unsigned char* y, const unsigned char* staged) {
  using Indices = kiln::IndexGroup<kiln::index_bits, 16 / sizeof(unit)>;
  constexpr unsigned k_periods = kiln::rows_per_tile / kiln::period_rows;
  constexpr unsigned k_period_in_bytes = kiln::period_rows * k_row_in_bytes;
  auto write = [&](unsigned period, unsigned vector, const Indices& indices) {
    kiln::store_streaming(y + period * k_period_out_bytes + vector * 16,
                          kiln::gather_vector<unit>(staged + period * k_period_in_bytes, indices));
  };
  if constexpr (Vectors <= kiln::threads) {
    constexpr unsigned k_groups = kiln::threads / Vectors;
    const unsigned group = threadIdx.x / Vectors;
    if (group < k_groups) {
      const Indices indices(kiln::table, threadIdx.x % Vectors);
#pragma unroll 1
      for (unsigned period = group; period < k_periods; period += k_groups) {
        write(period, threadIdx.x % Vectors, indices);
      }
    }
  } else {
    // Unrolled, so that the indices of several vectors are on their way at once.
#pragma unroll 4
    for (unsigned vector = threadIdx.x; vector < Vectors; vector += kiln::threads) {
      const Indices indices(kiln::table, vector);
#pragma unroll 1
      for (unsigned period = 0; period < k_periods; ++period) {
        write(period, vector, indices);
      }
    }
  }
}

__device__ void move_tile(unsigned char* y, const unsigned char* x, unsigned rows) {
  unsigned char* shared = reinterpret_cast<unsigned char*>(kiln_shared);
  const unsigned phase =
      kiln::stage<unit, element, kiln::threads, kiln::asynchronous>(shared, x, rows * k_row_in_bytes);
  __syncthreads();
  if constexpr (k_whole_vectors) {
    if (rows == kiln::rows_per_tile && kiln::is_aligned(y, 16)) {
      write_vectors<k_vectors>(y, shared + phase);
      return;
    }
  }
  write_units(y, shared + phase, rows);
}

}  // namespace

__global__ void __launch_bounds__(kiln::threads)
    permute(void* __restrict__ y, const void* __restrict__ x, unsigned long long rows) {
  const unsigned long long tile = blockIdx.x + static_cast<unsigned long long>(gridDim.x) * blockIdx.y;
  const unsigned long long first = tile * kiln::rows_per_tile;
  if (first < rows) {
    const unsigned long long left = rows - first;
    move_tile(static_cast<unsigned char*>(y) + first * k_row_out_bytes,
              static_cast<const unsigned char*>(x) + first * k_row_in_bytes,
              left < kiln::rows_per_tile ? static_cast<unsigned>(left) : kiln::rows_per_tile);
  }
}
