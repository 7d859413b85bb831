// Sixteen bytes in registers, and how they come from and go to addresses that are not aligned to them.
#pragma once

#include "kiln/memory.cuh"

namespace kiln {

/// How far an address is behind the last that is aligned to vectors.
__device__ __forceinline__ unsigned phase_of(const void* address) {
  return static_cast<unsigned>(reinterpret_cast<unsigned long long>(address) & 15);
}

/// 16 bytes as four words, the lowest address first. With indices that are known when the kernel is compiled, it stays
/// in registers.
struct Vector {
  unsigned words[4];
};

__device__ __forceinline__ Vector vector_of(const uint4& value) { return {{value.x, value.y, value.z, value.w}}; }

__device__ __forceinline__ uint4 bits_of(const Vector& vector) {
  uint4 value;
  value.x = vector.words[0];
  value.y = vector.words[1];
  value.z = vector.words[2];
  value.w = vector.words[3];
  return value;
}

/// Of 2 * Words words in a row, those that stand `bytes` before the upper half are moved up to it. `bytes` is in [0, 4
/// * Words), a multiple of Granule. What is then in the lower half is of no use.
template <unsigned Words, unsigned Granule, unsigned Step = Words / 2>
__device__ __forceinline__ void move_up(unsigned (&words)[2 * Words], unsigned bytes) {
  if constexpr (Step == 0) {
    if constexpr (Granule < 4) {
#pragma unroll
      for (unsigned word = 2 * Words - 1; word >= Words; --word) {
        words[word] = __funnelshift_l(words[word - 1], words[word], bytes % 4 * 8);
      }
    }
  } else {
    if constexpr (4 * Step >= Granule) {
      const bool moves = (bytes & (4 * Step)) != 0;
#pragma unroll
      for (unsigned word = 2 * Words - 1; word >= Words - Step; --word) {
        words[word] = moves ? words[word - Step] : words[word];
      }
    }
    move_up<Words, Granule, Step / 2>(words, bytes);
  }
}

/// Bytes [16 - count, 32 - count) of two neighbouring vectors; count is in [0, 16), a multiple of sizeof(Element).
template <typename Element>
__device__ __forceinline__ Vector realign(const Vector& first, const Vector& second, unsigned count) {
  unsigned words[8];
#pragma unroll
  for (unsigned word = 0; word < 4; ++word) {
    words[word] = first.words[word];
    words[4 + word] = second.words[word];
  }
  move_up<4, sizeof(Element)>(words, count);
  return {{words[4], words[5], words[6], words[7]}};
}

/// The same vector of the thread before, in its warp; the warp's first thread has its own. All threads of a warp call
/// it.
__device__ __forceinline__ Vector from_thread_before(const Vector& vector) {
  Vector result;
#pragma unroll
  for (unsigned word = 0; word < 4; ++word) {
    result.words[word] = __shfl_up_sync(0xffffffffu, vector.words[word], 1);
  }
  return result;
}

/// The lowest bytes of a vector, as many as T has.
template <typename T>
__device__ __forceinline__ T lowest(const Vector& vector) {
  if constexpr (sizeof(T) == 16) {
    return bits_of(vector);
  } else if constexpr (sizeof(T) == 8) {
    T value;
    value.x = vector.words[0];
    value.y = vector.words[1];
    return value;
  } else {
    return static_cast<T>(vector.words[0]);
  }
}

/// The lowest `count` bits; none where it is negative, all from 32 on.
__device__ __forceinline__ unsigned lowest_bits(int count) {
  return count <= 0 ? 0 : count >= 32 ? 0xFFFFFFFFu : (1u << count) - 1;
}

/// All Elements of a vector, as store_masked counts them.
template <typename Element>
constexpr unsigned k_all_elements = (1u << (16 / sizeof(Element))) - 1;

/// Those Elements of a vector whose bits are set in `mask`, the lowest being the first, to the aligned address that it
/// belongs to.
template <typename Element>
__device__ __forceinline__ void store_masked(unsigned char* to, const Vector& vector, unsigned mask) {
  if constexpr (sizeof(Element) == 16) {
    if (mask != 0) {
      store(to, bits_of(vector));
    }
  } else {
    constexpr unsigned k_in_half = 8 / sizeof(Element);
    constexpr unsigned k_half = (1u << k_in_half) - 1;
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned low = vector.words[2 * half];
      const unsigned high = vector.words[2 * half + 1];
      const unsigned bits = mask >> (half * k_in_half) & k_half;
      if (bits == k_half) {
        store(to + 8 * half, uint2{low, high});
        mask &= ~(k_half << (half * k_in_half));
      } else if constexpr (sizeof(Element) <= 4) {
        constexpr unsigned k_in_word = 4 / sizeof(Element);
        constexpr unsigned k_word = (1u << k_in_word) - 1;
#pragma unroll
        for (unsigned word = 0; word < 2; ++word) {
          if ((bits >> (word * k_in_word) & k_word) == k_word) {
            store(to + 8 * half + 4 * word, word == 0 ? low : high);
            mask &= ~(k_word << (half * k_in_half + word * k_in_word));
          }
        }
      }
    }
    if constexpr (sizeof(Element) < 4) {  // what is left of words, two bytes at a time where they are aligned
#pragma unroll 1
      while (mask != 0) {
        const unsigned first = static_cast<unsigned>(__ffs(static_cast<int>(mask))) - 1;
        const unsigned byte = first * sizeof(Element);
        const unsigned low = (byte & 4) != 0 ? vector.words[1] : vector.words[0];
        const unsigned high = (byte & 4) != 0 ? vector.words[3] : vector.words[2];
        const unsigned value = ((byte & 8) != 0 ? high : low) >> (byte % 4 * 8);
        if (sizeof(Element) == 2 || (first % 2 == 0 && (mask >> first & 2) != 0)) {
          store(to + byte, static_cast<unsigned short>(value));
          mask &= ~((sizeof(Element) == 2 ? 1u : 3u) << first);
        } else {
          store(to + byte, static_cast<unsigned char>(value));
          mask &= mask - 1;
        }
      }
    }
  }
}

/// The same as a function of its own, for what is seldom done: so that the code is there once.
template <typename Element>
__device__ __noinline__ void store_masked_apart(unsigned char* to, uint4 vector, unsigned mask) {
  store_masked<Element>(to, vector_of(vector), mask);
}

}  // namespace kiln
