// An index table packed into 64-bit words: entry i stands in bits [i * Bits, (i + 1) * Bits), counted from the first
// word's lowest bit. Bits is 8, 16 or 32.
#pragma once

#include "kiln/memory.cuh"

namespace kiln {

template <unsigned Bits>
struct IndexType;
template <>
struct IndexType<8> {
  using Type = unsigned char;
};
template <>
struct IndexType<16> {
  using Type = unsigned short;
};
template <>
struct IndexType<32> {
  using Type = unsigned int;
};

/// Entry `position`. Words are little-endian, so an entry can be loaded by itself.
template <unsigned Bits>
__device__ __forceinline__ unsigned table_entry(const unsigned long long* table, unsigned long long position) {
  using Index = typename IndexType<Bits>::Type;
  return load_constant<Index>(reinterpret_cast<const unsigned char*>(table) + position * sizeof(Index));
}

/// `Count` neighbouring entries in registers; Count is a power of two up to 16.
template <unsigned Bits, unsigned Count>
class IndexGroup {
 public:
  /// Entries [number * Count, (number + 1) * Count).
  __device__ __forceinline__ void load(const unsigned long long* table, unsigned number) {
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(table) + number * k_bytes;
    if constexpr (k_bytes >= 8) {
#pragma unroll
      for (unsigned word = 0; word < k_words; ++word) {
        words_[word] = load_constant<unsigned long long>(bytes + 8 * word);
      }
    } else if constexpr (k_bytes == 4) {
      words_[0] = load_constant<unsigned int>(bytes);
    } else if constexpr (k_bytes == 2) {
      words_[0] = load_constant<unsigned short>(bytes);
    } else {
      words_[0] = load_constant<unsigned char>(bytes);
    }
  }
  __device__ __forceinline__ unsigned operator[](unsigned entry) const {
    return static_cast<unsigned>(words_[entry * Bits / 64] >> (entry * Bits % 64)) & (0xFFFFFFFFu >> (32 - Bits));
  }

 private:
  static constexpr unsigned k_bytes = Bits * Count / 8;
  static constexpr unsigned k_words = k_bytes < 8 ? 1 : k_bytes / 8;
  unsigned long long words_[k_words];
};

}  // namespace kiln
