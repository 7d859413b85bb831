// An index table packed into 64-bit words: entry i stands in bits [i * Bits, (i + 1) * Bits), counted from the first
// word's lowest bit. Bits is 8, 16 or 32.
#pragma once

#include "kiln/vector.cuh"

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
  static constexpr unsigned k_bytes = Bits * Count / 8;
  static constexpr unsigned k_words = k_bytes < 4 ? 1 : k_bytes / 4;

  /// Entries [number * Count, (number + 1) * Count).
  __device__ __forceinline__ void load(const unsigned long long* table, unsigned number) {
    const unsigned char* bytes = reinterpret_cast<const unsigned char*>(table) + number * k_bytes;
    if constexpr (k_bytes >= 8) {
#pragma unroll
      for (unsigned word = 0; word < k_words; word += 2) {
        const auto both = load_constant<unsigned long long>(bytes + 4 * word);
        words[word] = static_cast<unsigned>(both);
        words[word + 1] = static_cast<unsigned>(both >> 32);
      }
    } else if constexpr (k_bytes == 4) {
      words[0] = load_constant<unsigned int>(bytes);
    } else if constexpr (k_bytes == 2) {
      words[0] = load_constant<unsigned short>(bytes);
    } else {
      words[0] = load_constant<unsigned char>(bytes);
    }
  }
  __device__ __forceinline__ unsigned operator[](unsigned entry) const {
    return words[entry * Bits / 32] >> (entry * Bits % 32) & (0xFFFFFFFFu >> (32 - Bits));
  }

  unsigned words[k_words];
};

/// Two neighbouring groups.
template <unsigned Bits, unsigned Count>
class IndexPair {
 public:
  using Group = IndexGroup<Bits, Count>;

  /// Groups number - 1 and number; of a table that has `count`. Where there is none its entries are any others.
  __device__ __forceinline__ void load(const unsigned long long* table, unsigned number, unsigned count) {
    first_.load(table, number == 0 ? 0 : number - 1);
    second_.load(table, number < count ? number : 0);
  }
  /// As many entries as a group has, from `before` before the second group on; before < Count.
  __device__ __forceinline__ Group from(unsigned before) const {
    if constexpr (Count == 1) {
      return second_;
    } else if constexpr (Group::k_bytes < 4) {
      const unsigned both = first_.words[0] | second_.words[0] << (8 * Group::k_bytes);
      return {{both >> (8 * Group::k_bytes - before * Bits)}};
    } else {
      constexpr unsigned k_words = Group::k_words;
      unsigned words[2 * k_words];
#pragma unroll
      for (unsigned word = 0; word < k_words; ++word) {
        words[word] = first_.words[word];
        words[k_words + word] = second_.words[word];
      }
      move_up<k_words, Bits / 8>(words, before * (Bits / 8));
      Group group;
#pragma unroll
      for (unsigned word = 0; word < k_words; ++word) {
        group.words[word] = words[k_words + word];
      }
      return group;
    }
  }

 private:
  Group first_;
  Group second_;
};

}  // namespace kiln
