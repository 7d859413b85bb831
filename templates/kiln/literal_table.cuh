// A short index table in the code itself. A launch that moves little waits for memory and for nothing else: an index
// that had to be loaded first would make it wait twice.
#pragma once

namespace kiln {

/// The largest power of two below Count.
template <unsigned Count>
struct HalfOf {
  static constexpr unsigned value = 2 * HalfOf<(Count + 1) / 2>::value;
};
template <>
struct HalfOf<2> {
  static constexpr unsigned value = 1;
};

/// Literal `number` of Literals::word<First> to word<First + Count - 1>, by a tree of selects: a level a bit of
/// `number`.
template <template <unsigned> class Literal, unsigned First, unsigned Count>
__device__ __forceinline__ unsigned select_word(unsigned number) {
  if constexpr (Count == 1) {
    return Literal<First>::value;
  } else {
    constexpr unsigned k_half = HalfOf<Count>::value;
    const unsigned low = select_word<Literal, First, k_half>(number);
    const unsigned high = select_word<Literal, First + k_half, Count - k_half>(number);
    return (number & k_half) != 0 ? high : low;
  }
}

/// Entry `position` of a table of `Size` entries of 8 bits, four to a literal, the first in the lowest bits.
template <template <unsigned> class Literal, unsigned Size>
__device__ __forceinline__ unsigned select_entry(unsigned position) {
  return (select_word<Literal, 0, (Size + 3) / 4>(position / 4) >> (position % 4 * 8)) & 0xFF;
}

}  // namespace kiln
