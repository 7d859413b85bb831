// A tile of lines of y out of shared memory.
#pragma once

#include "kiln/index_table.cuh"
#include "kiln/lines_in.cuh"
#include "kiln/table_source.cuh"

namespace kiln {

constexpr unsigned k_entries = 16 / sizeof(output);  // of a vector of y

using Indices = IndexGroup<index_bits, k_entries>;
using IndexNeighbours = IndexPair<index_bits, k_entries>;

/// Elements of type From, changed on their way to elements of y as To's bits. They are places `first_place` and on of a
/// line; those that there are not are thrown away.
template <typename From, typename To>
__device__ __forceinline__ TileLanes gather_changed(unsigned start, int first_place, const Indices& indices) {
  using Input = typename From::Bits;
  using Output = typename To::Bits;
  using Word = typename BitsType<lanes * sizeof(Input)>::Type;
  TileLanes result = {};
#pragma unroll
  for (unsigned entry = 0; entry < k_entries; ++entry) {
    const Word word =
        load<Word>(shared_tile() + swizzled(start * lanes + indices[entry] * static_cast<unsigned>(sizeof(Word))));
    // Must be a position that there is, also of what is thrown away.
    const int place = first_place + static_cast<int>(entry);
    constexpr unsigned k_stride = stride_out / sizeof(output);
    const unsigned in_line = place < 0 ? 0 : static_cast<unsigned>(place);
    const unsigned in_row = line_rows > 1 ? in_line % k_stride : in_line;
    const unsigned position = in_row < row_out ? in_row : row_out - 1;
#pragma unroll
    for (unsigned lane = 0; lane < lanes; ++lane) {
      Input bits;
      if constexpr (lanes == 1) {
        bits = word;
      } else {
        bits = static_cast<Input>(word >> (lane * 8 * sizeof(Input)));
      }
      const Output made = changed<From, To>(bits, position);
      Vector& vector = result.of[lane];
      if constexpr (sizeof(Output) == 8) {
        vector.words[2 * entry] = made.x;
        vector.words[2 * entry + 1] = made.y;
      } else {
        constexpr unsigned k_of_word = 4 / sizeof(Output);
        vector.words[entry / k_of_word] |= static_cast<unsigned>(made)
                                           << (entry % k_of_word * 8 * static_cast<unsigned>(sizeof(Output)));
      }
    }
  }
  return result;
}

/// A vector of a line in each lane: places `first_place` and on, whose units `indices` are. `start`: where in shared
/// memory the line of x does.
template <bool Changed = has_ending>
__device__ __forceinline__ TileLanes gather(unsigned start, [[maybe_unused]] int first_place, const Indices& indices) {
  if constexpr (Changed) {
    return gather_changed<from, to>(start, first_place, indices);
  } else {
    return gather_lanes<unit, lanes>(shared_tile(), start * lanes, indices);
  }
}

/// Is something between the rows of a line? Then many vectors are stored in part, else only those at its ends.
constexpr bool k_has_gaps = line_rows > 1 && stride_out != k_row_out;

/// Which elements of 16 bytes of a line, from element `first` on, are a row's, and not between two.
__device__ __forceinline__ unsigned of_rows([[maybe_unused]] int first) {
  if constexpr (!k_has_gaps) {
    return k_all_elements<output_element>;
  } else {
    constexpr int k_count = 16 / sizeof(output_element);
    constexpr int k_stride = stride_out / sizeof(output_element);
    constexpr int k_row = k_row_out / sizeof(output_element);
    constexpr int k_rows = (k_count + k_stride - 2) / k_stride + 1;  // that there may be some of
    const int in_row = (first + k_count * k_stride) % k_stride;      // first > -k_count
    unsigned mask = 0;
#pragma unroll
    for (int row = 0; row < k_rows; ++row) {
      const int start = row * k_stride - in_row;
      mask |= lowest_bits(start + k_row) & ~lowest_bits(start);
    }
    return mask;
  }
}

/// Vector `vector` of a line of y in each lane, counted from the aligned address `phase` before the line: what of it is
/// the line's own.
__device__ __forceinline__ void put(const Tile& tile, unsigned line, unsigned vector, unsigned phase,
                                    const TileLanes& found) {
  constexpr int k_size = sizeof(output_element);
  const int at = static_cast<int>(vector * 16) - static_cast<int>(phase);  // of the line
  const unsigned of_line = of_rows(at / k_size) & ~lowest_bits(-at / k_size);
#pragma unroll
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const unsigned mask = of_line & lowest_bits((static_cast<int>(tile.bytes_out(lane, line)) - at) / k_size) &
                          k_all_elements<output_element>;
    unsigned char* to = tile.y_of(lane, line) + at;
    if (mask == k_all_elements<output_element>) {
      store_streaming(to, bits_of(found.of[lane]));
    } else if constexpr (k_has_gaps && lanes == 1) {
      store_masked<output_element>(to, found.of[lane], mask);
    } else if (mask != 0) {
      store_masked_apart<output_element>(to, bits_of(found.of[lane]), mask);
    }
  }
}

/// Where a vector of a line that starts with one, or between two units of one, finds its units.
__device__ __forceinline__ void load_indices(Indices& indices, unsigned vector) {
  indices.load(packed_table(), vector < k_vectors_out ? vector : 0);
}
__device__ __forceinline__ void load_indices(IndexNeighbours& indices, unsigned vector) {
  indices.load(packed_table(), vector, k_vectors_out);
}

/// Which vectors of which lines a thread writes, and where it finds their units: of Vectors a line. Where a block has
/// threads for all of them, a thread has the same one of several lines; else the indices of Batch are on their way at
/// once.
template <unsigned Vectors, typename Group, unsigned Batch>
class Turns {
 public:
  __device__ __forceinline__ void load_first() { load(k_is_fixed ? threadIdx.x % Vectors : threadIdx.x); }
  /// put(line, vector, indices) for each, after load_first.
  template <typename Put>
  __device__ __forceinline__ void for_each(Put put) {
    if constexpr (k_is_fixed) {
      constexpr unsigned k_at_once = k_is_fixed ? threads / Vectors : 1;  // lines
      constexpr unsigned k_turns = (lane_lines + k_at_once - 1) / k_at_once;
      unsigned line = threadIdx.x / Vectors;
      if (line < k_at_once) {
#pragma unroll(lanes == 1 ? 2 : 1)
        for (unsigned turn = 0; turn < k_turns; ++turn, line += k_at_once) {
          if (line < lane_lines) {
            put(line, threadIdx.x % Vectors, of_[0]);
          }
        }
      }
    } else {
#pragma unroll 1
      for (unsigned base = threadIdx.x; base < Vectors; base += k_batch * threads) {
        if (base != threadIdx.x) {
          load(base);
        }
#pragma unroll
        for (unsigned item = 0; item < k_batch; ++item) {
          const unsigned vector = base + item * threads;
          if (vector < Vectors) {
#pragma unroll 1
            for (unsigned line = 0; line < lane_lines; ++line) {
              put(line, vector, of_[item]);
            }
          }
        }
      }
    }
  }

 private:
  static constexpr bool k_is_fixed = Vectors <= threads;
  static constexpr unsigned k_turns_of_vectors = (Vectors + threads - 1) / threads;
  static constexpr unsigned k_room = sizeof(Group) < 64 ? 64 / sizeof(Group) : 1;  // in registers
  static constexpr unsigned k_most = Batch == 0 ? 1 : Batch < k_room ? Batch : k_room;
  static constexpr unsigned k_batch = k_most < k_turns_of_vectors ? k_most : k_turns_of_vectors;

  __device__ __forceinline__ void load(unsigned first) {
#pragma unroll
    for (unsigned item = 0; item < k_batch; ++item) {
      load_indices(of_[item], first + item * threads);
    }
  }

  Group of_[k_batch];
};

constexpr unsigned k_batch = (k_resident > 1024 ? 2 : 4) / lanes;  // for which there are registers
using AlignedTurns = Turns<k_vectors_out, Indices, k_batch>;
// Where lines start with vectors, this is for y that is not aligned, and has no code in long.
using MovedTurns = Turns<k_moved_vectors, IndexNeighbours, k_stride_out % 16 == 0 ? 1 : k_batch / 2>;

/// Lines that start with a vector.
__device__ __forceinline__ void write_aligned(const Tile& tile, bool whole_units, AlignedTurns& turns) {
  turns.for_each([&](unsigned line, unsigned vector, const Indices& indices) {
    put(tile, line, vector, 0,
        gather(start_of(tile, line, whole_units), static_cast<int>(vector * k_entries), indices));
  });
}

/// Lines that start between two units of a vector: what each vector of y is made of stands elsewhere in the table.
__device__ __forceinline__ void write_between_units(const Tile& tile, bool whole_units, MovedTurns& turns) {
  const auto put_line = [&](unsigned line, unsigned vector, const IndexNeighbours& indices) {
    const unsigned phase = tile.phase_out(line);
    const unsigned before = phase / static_cast<unsigned>(sizeof(output));
    put(tile, line, vector, phase,
        gather(start_of(tile, line, whole_units), static_cast<int>(vector * k_entries) - static_cast<int>(before),
               indices.from(before)));
  };
  turns.for_each(put_line);
}

/// Lines that start inside a unit: each vector of y is put together from those of two neighbouring threads. A warp does
/// 31 vectors at a time, the first thread only has what comes before.
__device__ __forceinline__ void write_inside_units(const Tile& tile, bool whole_units) {
  constexpr unsigned k_put_together = 31;
  constexpr unsigned k_step = threads / 32 * k_put_together;
  constexpr unsigned k_places = lane_lines * k_moved_vectors;
#pragma unroll 1
  for (unsigned base = threadIdx.x / 32 * k_put_together; threadIdx.x < threads / 32 * 32 && base < k_places;
       base += k_step) {
    const unsigned own = base + threadIdx.x % 32;  // counted from 1
    const unsigned place = own == 0 ? 0 : own - 1 < k_places ? own - 1 : k_places - 1;
    const unsigned line = place / k_moved_vectors;
    const unsigned vector = place % k_moved_vectors;
    const unsigned phase = tile.phase_out(line);
    Indices indices;
    load_indices(indices, vector);
    TileLanes found = gather(start_of(tile, line, whole_units), static_cast<int>(vector * k_entries), indices);
#pragma unroll
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const Vector before = from_thread_before(found.of[lane]);
      found.of[lane] = realign<output_element>(before, found.of[lane], phase);
    }
    if (threadIdx.x % 32 != 0 && own - 1 < k_places) {
      put(tile, line, vector, phase, found);
    }
  }
}

/// How a tile is written, and the first of a thread's indices: on their way while shared memory is filled.
class Writer {
 public:
  __device__ __forceinline__ explicit Writer(const Tile& tile)
      : is_aligned_(k_stride_out % 16 == 0 && is_aligned(tile.y, 16)), is_between_(is_aligned(tile.y, sizeof(output))) {
    if constexpr (lanes == 1) {
      load_first();
    }
  }
  __device__ __forceinline__ void write(const Tile& tile) {
    const bool whole_units = has_whole_units(tile);
    if constexpr (lanes != 1) {
      load_first();
    }
    if (is_aligned_) {
      write_aligned(tile, whole_units, aligned_);
    } else if constexpr (sizeof(output) < 16) {
      if (is_between_) {
        write_between_units(tile, whole_units, moved_);
      }
    }
    if constexpr (sizeof(output_element) < sizeof(output)) {
      if (!is_aligned_ && !is_between_) {
        write_inside_units(tile, whole_units);
      }
    }
  }

 private:
  __device__ __forceinline__ void load_first() {
    if (is_aligned_) {
      aligned_.load_first();
    } else {
      moved_.load_first();
    }
  }

  bool is_aligned_;
  bool is_between_;
  AlignedTurns aligned_;
  MovedTurns moved_;
};

}  // namespace kiln
