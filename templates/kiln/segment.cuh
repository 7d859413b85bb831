// A segment of a bundle of rows, as the template permute_bucketed describes them. All sizes are bytes unless they say
// otherwise.
#pragma once

#include "kiln/lanes.cuh"
#include "kiln/values.h"

extern __shared__ uint4 kiln_shared[];

namespace kiln {

/// A unit of each lane.
using Word = typename BitsType<lanes * sizeof(unit)>::Type;

constexpr unsigned k_vector_words = 16 / sizeof(Word);
constexpr unsigned long long k_row_in = 1ull * row_in * sizeof(unit);
constexpr unsigned long long k_row_out = 1ull * row_out * sizeof(unit);

/// Of x and y, a thread moves a piece of each row at a time: the units that a vector of words has of it.
constexpr unsigned k_piece = 16 / lanes;
using PieceBits = typename BitsType<k_piece>::Type;

/// A piece of each row, in the lowest bytes of its vector.
using Pieces = LaneVectors<lanes>;

__device__ __forceinline__ unsigned char* shared_bytes() { return reinterpret_cast<unsigned char*>(kiln_shared); }

/// How far an address is behind the last that is aligned to pieces.
__device__ __forceinline__ unsigned piece_phase(const void* address) { return phase_of(address) % k_piece; }

/// Are the aligned pieces at `address` those of rows of `row_bytes` bytes that start there?
__device__ __forceinline__ bool has_aligned_rows(const void* address, unsigned long long row_bytes) {
  return row_bytes % k_piece == 0 && piece_phase(address) == 0;
}

/// Bytes [k_piece - count, 2 * k_piece - count) of two neighbouring pieces; count is in [0, k_piece).
__device__ __forceinline__ Vector realign_piece(const Vector& first, const Vector& second, unsigned count) {
  constexpr unsigned k_words = k_piece / 4;
  unsigned words[2 * k_words];
#pragma unroll
  for (unsigned word = 0; word < k_words; ++word) {
    words[word] = first.words[word];
    words[k_words + word] = second.words[word];
  }
  move_up<k_words, sizeof(element)>(words, count);
  Vector result = {};
#pragma unroll
  for (unsigned word = 0; word < k_words; ++word) {
    result.words[word] = words[k_words + word];
  }
  return result;
}

/// Units from `segment * most` on, at most `most`, of `units`.
__device__ __forceinline__ unsigned units_of(unsigned segment, unsigned most, unsigned units) {
  const unsigned left = units - segment * most;
  return left < most ? left : most;
}

}  // namespace kiln
