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

/// Bytes [16 - count, 32 - count) of two neighbouring vectors; count is in [0, 16), a multiple of sizeof(Element).
template <typename Element>
__device__ __forceinline__ Vector realign(const Vector& first, const Vector& second, unsigned count) {
  unsigned words[8];
#pragma unroll
  for (unsigned word = 0; word < 4; ++word) {
    words[word] = first.words[word];
    words[4 + word] = second.words[word];
  }
  if constexpr (sizeof(Element) <= 8) {
    const bool two = (count & 8) != 0;
#pragma unroll
    for (unsigned word = 7; word >= 2; --word) {
      words[word] = two ? words[word - 2] : words[word];
    }
  }
  if constexpr (sizeof(Element) <= 4) {
    const bool one = (count & 4) != 0;
#pragma unroll
    for (unsigned word = 7; word >= 3; --word) {
      words[word] = one ? words[word - 1] : words[word];
    }
  }
  Vector result;
#pragma unroll
  for (unsigned word = 0; word < 4; ++word) {
    if constexpr (sizeof(Element) < 4) {
      result.words[word] = __funnelshift_l(words[3 + word], words[4 + word], count % 4 * 8);
    } else {
      result.words[word] = words[4 + word];
    }
  }
  return result;
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

}  // namespace kiln
