// y[o, j] = x[o, map[j]], whole rows through shared memory, for rows that need not stand side by side and may change
// places where they are, or be changed on their way.
//
// A `unit` moves as a whole; callers align their pointers to `element`, and strides are whole units. Rows have M =
// `row_out` units in the output, N = `row_in` in the input. From the start of a row to that
// of the next it is `stride_in` bytes in x and `stride_out` in y. What is written by itself is a line: `line_rows` rows
// with what is between them, so that short rows make whole vectors.
//
// A block does a tile: `lanes` lanes, each of `lane_lines` neighbouring lines. The lanes are interleaved in shared
// memory: a word there holds a unit of each, so that small units move several at once. From one lane to the next it is
// `lane_distance` lines, a multiple of lane_lines, after which addresses are equally far from a vector's start in x and
// in y: what has to be moved to make vectors is moved the same way in all lanes. Where that is more than lane_lines,
// the lines between are the neighbouring tiles'.
//
// `table` has an entry of `index_bits` for each unit of a line of output, and for what would be one between two rows,
// filled up to whole vectors: the unit of the line of input that goes there. Or the entries are `table_bytes` bytes of
// module data.
//
// x is read in aligned vectors, also over the edges of rows: what stands between them is read and thrown away, but
// nothing before the first row and behind the last. y is written in aligned vectors where all of one is rows' own, else
// in parts. So nothing between rows is written, and `in_place`, where y is x, a block has read all that it writes to.
//
// With `has_ending` a unit is an element of x, which becomes one of y: what it is as a number of the type `from` is put
// into the expression `ending`, which may use `lists`, and the result written as one of the type `to`.
//
// `asynchronous`: shared memory is filled with cp.async, where there is that; with one lane.
// `resident_threads`: so many are to fit on a multiprocessor as far as registers go.
//
// kiln: parameter unit: type
// kiln: parameter element: type
// kiln: parameter row_out: u32
// kiln: parameter row_in: u32
// kiln: parameter stride_out: u64
// kiln: parameter stride_in: u64
// kiln: parameter line_rows: u32
// kiln: parameter lanes: u32
// kiln: parameter lane_lines: u32
// kiln: parameter lane_distance: u32
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
  const kiln::Tile lines =
      kiln::tile_of(static_cast<unsigned char*>(y), static_cast<const unsigned char*>(x), tile, rows);
  if (lines.rows != 0) {
    kiln::Writer writer(lines);
    kiln::read(lines);
    __syncthreads();
    writer.write(lines);
  }
}
