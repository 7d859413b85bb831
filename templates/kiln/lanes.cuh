// Several rows at once: a `word` of shared memory holds one unit of each lane, a lane being a row or several that are
// moved as one. A gather from shared memory then moves a unit of every lane.
#pragma once

#include "kiln/vector.cuh"

namespace kiln {

/// One vector of each lane; or the same bytes as neighbouring words that hold a unit of each.
template <unsigned Lanes>
struct LaneVectors {
  Vector of[Lanes];
};

/// Four words of bytes, as rows of a 4 x 4 matrix, to its columns.
__device__ __forceinline__ void transpose_bytes(unsigned (&rows)[4]) {
  const unsigned low_ab = __byte_perm(rows[0], rows[1], 0x5140);
  const unsigned high_ab = __byte_perm(rows[0], rows[1], 0x7362);
  const unsigned low_cd = __byte_perm(rows[2], rows[3], 0x5140);
  const unsigned high_cd = __byte_perm(rows[2], rows[3], 0x7362);
  rows[0] = __byte_perm(low_ab, low_cd, 0x5410);
  rows[1] = __byte_perm(low_ab, low_cd, 0x7632);
  rows[2] = __byte_perm(high_ab, high_cd, 0x5410);
  rows[3] = __byte_perm(high_ab, high_cd, 0x7632);
}

/// Word `number` of each lane's vector becomes words [number * Lanes, (number + 1) * Lanes) of what is kept in shared
/// memory, for all four numbers. Lanes * sizeof(Unit) is at most 4 unless Lanes is 1.
template <typename Unit, unsigned Lanes>
__device__ __forceinline__ LaneVectors<Lanes> interleave(const LaneVectors<Lanes>& lanes) {
  if constexpr (Lanes == 1) {
    return lanes;
  } else {
    LaneVectors<Lanes> result;
#pragma unroll
    for (unsigned number = 0; number < 4; ++number) {
      unsigned words[4];
#pragma unroll
      for (unsigned lane = 0; lane < Lanes; ++lane) {
        words[lane] = lanes.of[lane].words[number];
      }
      if constexpr (Lanes == 4) {
        transpose_bytes(words);
      } else {
        constexpr unsigned k_low = sizeof(Unit) == 1 ? 0x5140 : 0x5410;
        constexpr unsigned k_high = sizeof(Unit) == 1 ? 0x7362 : 0x7632;
        const unsigned first = words[0];
        words[0] = __byte_perm(first, words[1], k_low);
        words[1] = __byte_perm(first, words[1], k_high);
      }
#pragma unroll
      for (unsigned lane = 0; lane < Lanes; ++lane) {
        const unsigned word = number * Lanes + lane;
        result.of[word / 4].words[word % 4] = words[lane];
      }
    }
    return result;
  }
}

/// The opposite of interleave.
template <typename Unit, unsigned Lanes>
__device__ __forceinline__ LaneVectors<Lanes> separate(const LaneVectors<Lanes>& interleaved) {
  if constexpr (Lanes == 1) {
    return interleaved;
  } else {
    LaneVectors<Lanes> result;
#pragma unroll
    for (unsigned number = 0; number < 4; ++number) {
      unsigned words[4];
#pragma unroll
      for (unsigned lane = 0; lane < Lanes; ++lane) {
        const unsigned word = number * Lanes + lane;
        words[lane] = interleaved.of[word / 4].words[word % 4];
      }
      if constexpr (Lanes == 4) {
        transpose_bytes(words);
      } else {
        constexpr unsigned k_even = sizeof(Unit) == 1 ? 0x6420 : 0x5410;
        constexpr unsigned k_odd = sizeof(Unit) == 1 ? 0x7531 : 0x7632;
        const unsigned first = words[0];
        words[0] = __byte_perm(first, words[1], k_even);
        words[1] = __byte_perm(first, words[1], k_odd);
      }
#pragma unroll
      for (unsigned lane = 0; lane < Lanes; ++lane) {
        result.of[lane].words[number] = words[lane];
      }
    }
    return result;
  }
}

/// Where byte `at` of lane `lane` stands among the words of all lanes.
template <typename Unit, unsigned Lanes>
__device__ __forceinline__ unsigned place_in_lanes(unsigned lane, unsigned at) {
  constexpr unsigned k_unit = sizeof(Unit);
  return Lanes == 1 ? at : (at / k_unit * Lanes + lane) * k_unit + at % k_unit;
}

/// Where byte `at` of a tile stands in shared memory. Eight neighbouring vectors fill all banks once; their order
/// changes from eight to eight, so that rows of a power of two do not all have a position in one bank.
__device__ __forceinline__ unsigned swizzled(unsigned at) { return at ^ (at >> 3 & 0x70); }

/// 16 / sizeof(Unit) words, each a unit of every lane, of a tile in shared memory; indices count from byte `from`, a
/// multiple of a word's size.
template <typename Unit, unsigned Lanes, typename Indices>
__device__ __forceinline__ LaneVectors<Lanes> gather_lanes(const unsigned char* shared, unsigned from,
                                                           const Indices& indices) {
  using Word = typename BitsType<Lanes * sizeof(Unit)>::Type;
  constexpr unsigned k_count = 16 / sizeof(Unit);
  LaneVectors<Lanes> result = {};
#pragma unroll
  for (unsigned entry = 0; entry < k_count; ++entry) {
    const Word value = load<Word>(shared + swizzled(from + indices[entry] * static_cast<unsigned>(sizeof(Word))));
    if constexpr (sizeof(Word) == 16) {
      result.of[0] = vector_of(value);
    } else if constexpr (sizeof(Word) == 8) {
      result.of[0].words[2 * entry] = value.x;
      result.of[0].words[2 * entry + 1] = value.y;
    } else {
      constexpr unsigned k_of_word = 4 / sizeof(Word);
      const unsigned word = entry / k_of_word;
      result.of[word / 4].words[word % 4] |= static_cast<unsigned>(value)
                                             << (entry % k_of_word * 8 * static_cast<unsigned>(sizeof(Word)));
    }
  }
  return separate<Unit>(result);
}

}  // namespace kiln
