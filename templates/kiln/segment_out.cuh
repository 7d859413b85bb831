// A segment of a bundle of rows of y, out of words in shared memory.
#pragma once

#include "kiln/bucketed.cuh"
#include "kiln/segment.cuh"

namespace kiln {

struct SegmentOut {
  unsigned char* first;  // byte of the segment in the first row
  unsigned bytes;        // of each row
  unsigned rows;

  __device__ __forceinline__ unsigned char* of(unsigned lane) const { return first + lane * k_row_out; }
};

/// What a thread looks up of a segment, to write it bundle after bundle.
class SegmentWriter {
 public:
  /// `table`: the word for each unit of the segment.
  __device__ __forceinline__ SegmentWriter(const unsigned char* table, unsigned bytes)
      : table_(table), pieces_((bytes + k_piece - 1) / k_piece) {
#pragma unroll
    for (unsigned turn = 0; turn < k_turns; ++turn) {
      words_[turn] = words_of(first_piece<k_is_moved>() + turn * k_step);
    }
    if constexpr (k_is_moved) {
      edge_ = edge_place(bytes);
    }
  }

  __device__ __forceinline__ void write(const SegmentOut& out) const {
    unsigned first = first_piece<k_is_moved>();
    keep_in_register(first);  // and not where the piece of each turn is
    if constexpr (k_is_moved) {
#pragma unroll
      for (unsigned turn = 0; turn < k_turns; ++turn) {
        write_moved(out, first + turn * k_step, words_[turn].anew());
      }
      write_edges(out, edge_);
    } else if (out.rows == lanes && piece_phase(out.first) == 0) {
#pragma unroll
      for (unsigned turn = 0; turn < k_turns; ++turn) {
        write_aligned(out, first + turn * k_step, words_[turn].anew());
      }
    } else {
      // The last rows, fewer than a bundle, or y itself is not aligned: that is seldom, and has no code in long.
#pragma unroll 1
      for (unsigned piece = first_piece<true>(); piece - threadIdx.x % 32 + 1 < pieces_; piece += k_moved_step) {
        write_moved(out, piece, words_of(piece));
      }
      write_edges(out, edge_place(out.bytes));
    }
  }

 private:
  using Words = Offsets<k_vector_words>;

  // Do rows start between two pieces of y? Then each is put together from those of two neighbouring threads, and a
  // warp's first thread writes none.
  static constexpr bool k_is_moved = k_row_out % k_piece != 0;
  static constexpr unsigned k_put_together = 31;  // pieces, by a warp at once
  static constexpr unsigned k_moved_step = threads / 32 * k_put_together;
  static constexpr unsigned k_step = k_is_moved ? k_moved_step : threads;
  static constexpr unsigned k_turns = (target_segment / k_vector_words + k_step - 1) / k_step;

  /// The first piece that this thread gathers. Before the very first there is none, -1.
  template <bool Moved>
  __device__ __forceinline__ static unsigned first_piece() {
    return Moved ? threadIdx.x / 32 * k_put_together + threadIdx.x % 32 - 1 : threadIdx.x;
  }

  /// For a piece that there is not, those of the first.
  __device__ __forceinline__ Words words_of(unsigned piece) const {
    Words words;
    words.read(table_, piece < pieces_ ? piece : 0);
    return words;
  }

  __device__ __forceinline__ static Pieces gather(const Words& words) {
    Pieces found = {};
    found.of[0] = vector_of(gather_vector<Word>(shared_bytes(), words));
    one_vector_at_a_time<Word>();
    return separate<unit>(found);
  }

  __device__ __forceinline__ void write_aligned(const SegmentOut& out, unsigned piece, const Words& words) const {
    if (piece < pieces_) {
      const Pieces found = gather(words);
#pragma unroll
      for (unsigned lane = 0; lane < lanes; ++lane) {
        store_streaming(out.of(lane) + piece * k_piece, lowest<PieceBits>(found.of[lane]));
      }
    }
  }

  /// The piece of y in which `piece` starts, if it is whole in the segment. All threads of a warp call it.
  __device__ __forceinline__ void write_moved(const SegmentOut& out, unsigned piece, const Words& words) const {
    if (piece - threadIdx.x % 32 + 1 < pieces_) {  // in all threads of a warp or none
      const Pieces here = gather(words);
      const unsigned behind = threadIdx.x % 32 == 0 || out.bytes < k_piece ? 0 : out.bytes - k_piece + 1;
#pragma unroll
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const unsigned phase = piece_phase(out.of(lane));
        Vector before = {};
#pragma unroll
        for (unsigned word = 0; word < k_piece / 4; ++word) {
          before.words[word] = __shfl_up_sync(0xffffffffu, here.of[lane].words[word], 1);
        }
        const Vector whole = realign_piece(before, here.of[lane], phase);
        const unsigned at = piece * k_piece - phase;  // before the segment it is more than any
        if (lane < out.rows && at < behind) {
          store_streaming(out.of(lane) + at, lowest<PieceBits>(whole));
        }
      }
    }
  }

  /// Where the element is that this thread writes if it is in none of those pieces: one of the first bytes, as many as
  /// a piece has, or of the last; or nowhere, -1.
  __device__ __forceinline__ static int edge_byte(unsigned bytes) {
    constexpr int k_bytes = k_piece;
    const int at = static_cast<int>(threadIdx.x * sizeof(element));
    const int behind = at - 2 * k_bytes + static_cast<int>(bytes);
    return at < k_bytes && at < static_cast<int>(bytes) ? at : at >= k_bytes && at < 2 * k_bytes ? behind : -1;
  }
  /// Where in shared memory that is in the first lane.
  __device__ __forceinline__ unsigned edge_place(unsigned bytes) const {
    const int at = edge_byte(bytes);
    return at < 0
               ? 0
               : load_constant<unsigned short>(table_ + at / sizeof(unit) * 2) * static_cast<unsigned>(sizeof(Word)) +
                     at % sizeof(unit);
  }

  __device__ __forceinline__ static void write_edges(const SegmentOut& out, unsigned place) {
    if (const int at = edge_byte(out.bytes); at >= 0) {
#pragma unroll 1
      for (unsigned lane = 0; lane < out.rows; ++lane) {
        const unsigned phase = piece_phase(out.of(lane));
        const int whole_begin = static_cast<int>((k_piece - phase) % k_piece);
        const int whole_end = static_cast<int>(out.bytes) - static_cast<int>((out.bytes + phase) % k_piece);
        if (at < whole_begin || at >= whole_end) {
          store(out.of(lane) + at, load<element>(shared_bytes() + place + lane * sizeof(unit)));
        }
      }
    }
  }

  const unsigned char* table_;
  unsigned pieces_;
  Words words_[k_turns];
  unsigned edge_ = 0;
};

}  // namespace kiln
