// y[o, j] = x[o, map[j]], whole rows through shared memory, for rows that need not stand side by side and may change
// places where they are, or be changed on their way.
//
// A `unit` moves as a whole; callers align their pointers to `element`. Rows have M = `row_out` units in the output, N
// = `row_in` in the input. What is read and written by itself is a line: a row or, where rows stand side by side in x
// and in y, `line_rows` of them, so that short rows make whole vectors. From the start of a line to that of the next it
// is `stride_in` bytes in x and `stride_out` in y. A block does `lines_per_tile` lines, a tile, in grid order.
//
// `table` has an entry of `index_bits` for each unit of a line of output, filled up to whole vectors: the unit of the
// line of input that goes there. Or the entries are `table_bytes` bytes of module data.
//
// x is read in aligned vectors, also over the edges of lines: what stands between them is read and thrown away, but
// nothing before the first line and behind the last. y is written in aligned vectors where they are the line's own,
// each put together from those of two neighbouring threads where a line starts between two; its ends in parts. So
// nothing between lines is written, and `in_place`, where y is x, a block has read all that it writes to.
//
// With `has_ending` a unit is an element of x, which becomes one of y: what it is as a number of the type `from` is put
// into the expression `ending`, which may use `lists`, and the result written as one of the type `to`.
//
// `asynchronous`: shared memory is filled with cp.async, where there is that.
// `resident_threads`: so many are to fit on a multiprocessor as far as registers go.
//
// kiln: parameter unit: type
// kiln: parameter element: type
// kiln: parameter row_out: u32
// kiln: parameter row_in: u32
// kiln: parameter stride_out: u64
// kiln: parameter stride_in: u64
// kiln: parameter line_rows: u32
// kiln: parameter lines_per_tile: u32
// kiln: parameter threads: u32
// kiln: parameter resident_threads: u32
// kiln: parameter asynchronous: bool
// kiln: parameter in_place: bool
// kiln: parameter index_bits: u32
// kiln: parameter table_bytes: u32
// kiln: parameter table: u64[]
// kiln: parameter has_ending: bool
// kiln: parameter from: type = kiln::F32
// kiln: parameter to: type = kiln::F32
// kiln: parameter ending: code = value
// kiln: parameter lists: code = ;
// kiln: entry permute
#include "kiln/lines_in.cuh"
#include "kiln/lines_out.cuh"

__global__ void __launch_bounds__(kiln::threads, kiln::k_blocks)
    permute(void* y, const void* x, unsigned long long rows) {
  const unsigned long long tile = blockIdx.x + static_cast<unsigned long long>(gridDim.x) * blockIdx.y;
  const unsigned long long first = tile * (kiln::lines_per_tile * kiln::line_rows);
  if (first < rows) {
    const kiln::Tile lines =
        kiln::tile_of(static_cast<unsigned char*>(y), static_cast<const unsigned char*>(x), first, rows);
    kiln::Indices indices = kiln::first_indices();
    kiln::read(lines);
    __syncthreads();
    kiln::write(lines, indices);
  }
}
