// A tile of lines of y out of shared memory.
#pragma once

#include "kiln/index_table.cuh"
#include "kiln/lines_in.cuh"
#include "kiln/table_source.cuh"

namespace kiln {

using Indices = IndexGroup<index_bits, 16 / sizeof(output)>;

/// Does each thread have the same vector of every line that it writes?
constexpr bool k_is_fixed = k_vectors_out <= threads;

/// Elements of type From, changed on their way to elements of y as To's bits.
template <typename From, typename To>
__device__ __forceinline__ Vector gather_changed(unsigned start, unsigned vector, const Indices& indices) {
  using Input = typename From::Bits;
  using Output = typename To::Bits;
  constexpr unsigned k_count = 16 / sizeof(Output);
  Vector result = {};
#pragma unroll
  for (unsigned entry = 0; entry < k_count; ++entry) {
    const Input bits =
        load<Input>(shared_tile() + swizzled(start + indices[entry] * static_cast<unsigned>(sizeof(Input))));
    // What fills up the last vector is thrown away, but must be of a position that there is.
    const unsigned place = vector * k_count + entry;
    const unsigned position = line_rows > 1 ? place % row_out : place < row_out ? place : row_out - 1;
    const Output made = changed<From, To>(bits, position);
    if constexpr (sizeof(Output) == 8) {
      result.words[2 * entry] = made.x;
      result.words[2 * entry + 1] = made.y;
    } else {
      constexpr unsigned k_of_word = 4 / sizeof(Output);
      result.words[entry / k_of_word] |= static_cast<unsigned>(made)
                                         << (entry % k_of_word * 8 * static_cast<unsigned>(sizeof(Output)));
    }
  }
  return result;
}

/// Vector `vector` of a line of output that begins with one. `start`: where in shared memory its source does.
template <bool Changed = has_ending>
__device__ __forceinline__ Vector gather_line(unsigned start, unsigned vector, const Indices& indices) {
  if constexpr (Changed) {
    return gather_changed<from, to>(start, vector, indices);
  } else {
    return gather_lanes<unit, 1>(shared_tile(), start, indices).of[0];
  }
}

/// Do all lines of y start with a vector?
__device__ __forceinline__ bool is_aligned_output(const Tile& tile) {
  return sizeof(output_element) == 16 || (stride_out % 16 == 0 && is_aligned(tile.y, 16));
}

__device__ __forceinline__ void put_aligned(const Tile& tile, bool whole_units, unsigned line, unsigned vector,
                                            const Indices& indices) {
  const uint4 bytes = bits_of(gather_line(start_of(tile, line, whole_units), vector, indices));
  unsigned char* to = tile.y_of(line) + vector * 16;
  const int left = static_cast<int>(tile.rows_of(line) * k_row_out) - static_cast<int>(vector * 16);
  if (left >= 16) {
    store_streaming(to, bytes);
  } else if (left > 0) {
    store_first<output_element>(to, bytes, static_cast<unsigned>(left));
  }
}

/// `indices`: of the first vector that this thread has.
__device__ __forceinline__ void write_aligned(const Tile& tile, bool whole_units, Indices& indices) {
  if constexpr (k_is_fixed) {
    constexpr unsigned k_at_once = k_is_fixed ? threads / k_vectors_out : 1;  // lines
    unsigned line = threadIdx.x / k_vectors_out;
    if (line < k_at_once) {
#pragma unroll 2
      for (; line < tile.lines; line += k_at_once) {
        put_aligned(tile, whole_units, line, threadIdx.x % k_vectors_out, indices);
      }
    }
  } else {
#pragma unroll 1
    for (unsigned vector = threadIdx.x; vector < k_vectors_out; vector += threads) {
      if (vector != threadIdx.x) {
        indices.load(packed_table(), vector);
      }
#pragma unroll 1
      for (unsigned line = 0; line < tile.lines; ++line) {
        put_aligned(tile, whole_units, line, vector, indices);
      }
    }
  }
}

/// Lines that start anywhere: each vector of y is put together from those of two neighbouring threads. A warp does 31
/// vectors at a time, the first thread only has what comes before; a line has one more than it would have if aligned.
__device__ __forceinline__ void write_moved(const Tile& tile, bool whole_units) {
  constexpr unsigned k_put_together = 31;
  constexpr unsigned k_places = k_vectors_out + 1;  // of a line
  constexpr unsigned k_step = threads / 32 * k_put_together;
  const unsigned places = tile.lines * k_places;
#pragma unroll 1
  for (unsigned base = threadIdx.x / 32 * k_put_together; base < places; base += k_step) {
    const unsigned own = base + threadIdx.x % 32;  // counted from 1
    const unsigned place = own == 0 ? 0 : own - 1 < places ? own - 1 : places - 1;
    const unsigned line = place / k_places;
    const unsigned vector = place % k_places;
    Indices indices;
    indices.load(packed_table(), vector < k_vectors_out ? vector : 0);
    const Vector here = gather_line(start_of(tile, line, whole_units), vector, indices);
    const Vector before = from_thread_before(here);
    unsigned char* to = tile.y_of(line);
    const unsigned phase = phase_of(to);
    const uint4 bytes = bits_of(realign<output_element>(before, here, phase));
    const int length = static_cast<int>(tile.rows_of(line) * k_row_out);
    const int at = static_cast<int>(vector * 16) - static_cast<int>(phase);
    if (threadIdx.x % 32 != 0 && own - 1 < places) {
      if (at >= 0 && at + 16 <= length) {
        store_streaming(to + at, bytes);
      } else if (at < 0) {
        const int count = at + 16 < length ? at + 16 : length;
        if (count > 0) {
          store_first<output_element>(to, bits_of(here), static_cast<unsigned>(count));
        }
      } else if (at < length) {
        store_first<output_element>(to + at, bytes, static_cast<unsigned>(length - at));
      }
    }
  }
}

/// The first of a thread's indices, for `write`: on their way while shared memory is filled.
__device__ __forceinline__ Indices first_indices() {
  const unsigned vector = k_is_fixed ? threadIdx.x % k_vectors_out : threadIdx.x;
  Indices indices;
  indices.load(packed_table(), vector < k_vectors_out ? vector : 0);
  return indices;
}

__device__ __forceinline__ void write(const Tile& tile, Indices& indices) {
  const bool whole_units = has_whole_units(tile);
  if (is_aligned_output(tile)) {
    write_aligned(tile, whole_units, indices);
  } else if constexpr (sizeof(output_element) < 16) {
    write_moved(tile, whole_units);
  }
}

}  // namespace kiln
