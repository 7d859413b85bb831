// An index table packed into 64-bit words: entry i stands in bits [i * Bits, (i + 1) * Bits), counted from the first
// word's lowest bit. Bits is 8, 16 or 32.
#pragma once

#include "kiln/vector.cuh"

namespace kiln {

/// Entry `position`. Words are little-endian, so an entry can be loaded by itself.
template <unsigned Bits>
__device__ __forceinline__ unsigned table_entry(const unsigned long long* table, unsigned long long position) {
  using Index = typename BitsType<Bits / 8>::Type;
  return load_constant<Index>(reinterpret_cast<const unsigned char*>(table) + position * sizeof(Index));
}

/// `Count` neighbouring entries in registers; Count is a power of two up to 16.
template <unsigned Bits, unsigned Count>
class IndexGroup {
 public:
  static constexpr unsigned k_bytes = Bits * Count / 8;
  static constexpr unsigned k_halves = k_bytes < 4 ? 1 : k_bytes / 4;  // of words, of 32 bits each

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

  __device__ __forceinline__ unsigned half(unsigned number) const {
    return static_cast<unsigned>(words_[number / 2] >> (number % 2 * 32));
  }
  /// From k_halves of them.
  __device__ __forceinline__ void set(const unsigned* halves) {
#pragma unroll
    for (unsigned word = 0; word < k_words; ++word) {
      words_[word] = halves[2 * word];
      if constexpr (k_bytes >= 8) {
        words_[word] |= static_cast<unsigned long long>(halves[2 * word + 1]) << 32;
      }
    }
  }

 private:
  static constexpr unsigned k_words = k_bytes < 8 ? 1 : k_bytes / 8;
  unsigned long long words_[k_words];
};

/// Two neighbouring groups.
template <unsigned Bits, unsigned Count>
class IndexPair {
 public:
  using Group = IndexGroup<Bits, Count>;

  /// Groups number - 1 and number; of a table that has `count`. Where there is none its entries are any others.
  __device__ __forceinline__ void load(const unsigned long long* table, unsigned number, unsigned count) {
    first_.load(table, number == 0 || number > count ? 0 : number - 1);
    second_.load(table, number < count ? number : 0);
  }
  /// As many entries as a group has, from `before` before the second group on; before < Count.
  __device__ __forceinline__ Group from(unsigned before) const {
    if constexpr (Count == 1) {
      return second_;
    } else {
      constexpr unsigned k_halves = Group::k_halves;
      unsigned halves[2 * k_halves];
#pragma unroll
      for (unsigned half = 0; half < k_halves; ++half) {
        halves[half] = first_.half(half);
        halves[k_halves + half] = second_.half(half);
      }
      if constexpr (Group::k_bytes < 4) {
        const unsigned both = halves[0] | halves[1] << (8 * Group::k_bytes);
        halves[1] = both >> (8 * Group::k_bytes - before * Bits);
      } else {
        move_up<k_halves, Bits / 8>(halves, before * (Bits / 8));
      }
      Group group;
      group.set(halves + k_halves);
      return group;
    }
  }

 private:
  Group first_;
  Group second_;
};

}  // namespace kiln
