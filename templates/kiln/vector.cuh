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

/// What of the 16 bytes at base + at, which is aligned to Element, is in [base + begin, base + end): Element by
/// Element; the rest is 0. Constant: nobody writes there while the kernel runs.
template <typename Element, bool Constant = true>
__device__ __forceinline__ Vector load_part(const unsigned char* base, int at, int begin, int end) {
  Vector result = {};
  constexpr int k_size = sizeof(Element);
#pragma unroll 1
  for (int byte = 16 - k_size; byte >= 0; byte -= k_size) {
    const bool inside = at + byte >= begin && at + byte + k_size <= end;
    Element value = {};
    if (inside) {
      value = Constant ? load_constant<Element>(base + at + byte) : load<Element>(base + at + byte);
    }
    // What is there moves up by one.
    if constexpr (k_size == 16) {
      result = vector_of(value);
    } else if constexpr (k_size == 8) {
      result = {{value.x, value.y, result.words[0], result.words[1]}};
    } else if constexpr (k_size == 4) {
      result = {{value, result.words[0], result.words[1], result.words[2]}};
    } else {
#pragma unroll
      for (int word = 3; word > 0; --word) {
        result.words[word] = __funnelshift_l(result.words[word - 1], result.words[word], 8 * k_size);
      }
      result.words[0] = result.words[0] << (8 * k_size) | value;
    }
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

/// Bytes [Count, 16) of a vector in the lowest places.
template <unsigned Count>
__device__ __forceinline__ Vector without_lowest(const Vector& vector) {
  Vector result = {};
#pragma unroll
  for (unsigned word = 0; word + Count / 4 < 4; ++word) {
    const unsigned from = word + Count / 4;
    result.words[word] = Count % 4 == 0 ? vector.words[from]
                                        : __funnelshift_r(vector.words[from],
                                                          from < 3 ? vector.words[(from + 1) % 4] : 0, Count % 4 * 8);
  }
  return result;
}

/// If `bytes` has the bit that is sizeof(T): the lowest bytes of the vector as one T; `to` and the vector go on behind.
template <typename Element, typename T>
__device__ __forceinline__ void store_piece(unsigned char*& to, Vector& vector, unsigned bytes) {
  if constexpr (sizeof(T) >= sizeof(Element)) {
    if ((bytes & sizeof(T)) != 0) {
      store(to, lowest<T>(vector));
      to += sizeof(T);
      vector = without_lowest<sizeof(T)>(vector);
    }
  }
}

/// The first `bytes` bytes of a vector, fewer than 16 and whole Elements. In aligned pieces where they start or end
/// between two vectors of memory, else Element by Element. A function of its own, so that the code is there once.
template <typename Element>
__device__ __noinline__ void store_first(unsigned char* to, uint4 bits, unsigned bytes) {
  Vector vector = vector_of(bits);
  if (is_aligned(to, 16)) {
    store_piece<Element, uint2>(to, vector, bytes);
    store_piece<Element, unsigned int>(to, vector, bytes);
    store_piece<Element, unsigned short>(to, vector, bytes);
    store_piece<Element, unsigned char>(to, vector, bytes);
  } else if (is_aligned(to + bytes, 16)) {
    store_piece<Element, unsigned char>(to, vector, bytes);
    store_piece<Element, unsigned short>(to, vector, bytes);
    store_piece<Element, unsigned int>(to, vector, bytes);
    store_piece<Element, uint2>(to, vector, bytes);
  } else {
#pragma unroll 1
    for (unsigned byte = 0; byte < bytes; byte += sizeof(Element)) {
      store(to + byte, lowest<Element>(vector));
      vector = without_lowest<sizeof(Element)>(vector);
    }
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
/// belongs to. A function of its own, so that the code is there once.
template <typename Element>
__device__ __noinline__ void store_masked(unsigned char* to, uint4 bits_of_vector, unsigned mask) {
  const Vector vector = vector_of(bits_of_vector);
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

}  // namespace kiln
