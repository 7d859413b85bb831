// y[o, j] = x[o, map[j]], tiles of whole rows through shared memory: 16-byte loads in, a gather out of shared memory
// through a packed table, 16-byte streaming stores out. One tile a block, in grid order: the order in which pages of
// memory are touched matters more than overlapping one tile's loads with another's stores.
//
// A `unit` moves as a whole; callers align their pointers to `element`. Rows have M = `row_out` units in the output, N
// = `row_in` in the input. A tile has `rows_per_tile` rows, which are `lanes` lanes of neighbouring rows. The lanes are
// interleaved in shared memory: a word there holds a unit of each, so that small units move several at once. A lane is
// one or more periods of `period_rows` rows; where it is more, a period makes whole vectors of output.
//
// `table` has an entry of `index_bits` for each unit of a period of output, filled up to whole vectors: the unit of the
// period of input that goes there. Or the entries are `table_bytes` bytes of module data.
//
// x is read in vectors that are aligned, over the edges of rows and tiles; only where x itself starts and ends, element
// by element. Shared memory holds them as they are where all lanes are equally far from a vector's start; else each
// lane is moved to whole vectors first. y is written in vectors that are aligned, each put together from those of two
// neighbouring threads; only where a lane starts and ends, element by element.
//
// `asynchronous`: shared memory is filled with cp.async, where there is that; with one lane.
// `resident_threads`: so many are to fit on a multiprocessor as far as registers go.
//
// kiln: parameter unit: type
// kiln: parameter element: type
// kiln: parameter row_out: u32
// kiln: parameter row_in: u32
// kiln: parameter lanes: u32
// kiln: parameter rows_per_tile: u32
// kiln: parameter period_rows: u32
// kiln: parameter threads: u32
// kiln: parameter resident_threads: u32
// kiln: parameter asynchronous: bool
// kiln: parameter index_bits: u32
// kiln: parameter table_bytes: u32
// kiln: parameter table: u64[]
// kiln: entry permute
#include "kiln/stage_in.cuh"
#include "kiln/stage_out.cuh"

namespace {

__device__ __forceinline__ void move(const kiln::Tile& tile) {
  const bool aligned = kiln::is_aligned_output(tile);
  if constexpr (kiln::lanes == 1) {
    // On its way while shared memory is filled.
    kiln::IndexBatch batch = kiln::first_batch(aligned);
    const unsigned start = kiln::read(tile);
    __syncthreads();
    kiln::write(tile, aligned, start, batch);
  } else {
    const unsigned start = kiln::read(tile);
    __syncthreads();
    kiln::IndexBatch batch = kiln::first_batch(aligned);
    kiln::write(tile, aligned, start, batch);
  }
}

}  // namespace

__global__ void __launch_bounds__(kiln::threads, kiln::k_blocks)
    permute(void* __restrict__ y, const void* __restrict__ x, unsigned long long rows) {
  const unsigned long long tile = blockIdx.x + static_cast<unsigned long long>(gridDim.x) * blockIdx.y;
  const unsigned long long first = tile * kiln::rows_per_tile;
  if (first < rows) {
    move(kiln::tile_of(static_cast<unsigned char*>(y), static_cast<const unsigned char*>(x), first, rows));
  }
}
