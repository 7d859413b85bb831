// Planes to pixels and back, in registers: bytes are permuted by literal selectors.
#pragma once

namespace kiln {

/// The order of a group of neighbouring pixels, as many as a vector of 16 bytes has Units: a vector of each of Channels
/// planes becomes the pixels, one after another, or the other way round.
template <typename Unit, unsigned Channels, bool ToPixels>
struct Exchange {
  static constexpr unsigned k_words = 4 * Channels;

  /// Which byte it was that becomes byte `at`.
  static __device__ constexpr unsigned source(unsigned at) {
    constexpr unsigned k_unit = sizeof(Unit);
    constexpr unsigned k_pixels = 16 / k_unit;
    const unsigned number = at / k_unit;
    const unsigned unit =
        ToPixels ? number % Channels * k_pixels + number / Channels : number % k_pixels * Channels + number / k_pixels;
    return unit * k_unit + at % k_unit;
  }

  /// Does no byte of the word before this one come from the same word?
  static __device__ constexpr bool is_first_of_its_word(unsigned word, unsigned byte) {
    for (unsigned before = 0; before < byte; ++before) {
      if (source(4 * word + before) / 4 == source(4 * word + byte) / 4) {
        return false;
      }
    }
    return true;
  }

  /// Takes what the word that `byte` comes from has, beside the bytes that are there.
  static __device__ constexpr unsigned selector(unsigned word, unsigned byte) {
    bool is_permuted = false;
    for (unsigned before = 1; before < byte; ++before) {
      is_permuted = is_permuted || is_first_of_its_word(word, before);
    }
    unsigned result = 0;
    for (unsigned each = 0; each < 4; ++each) {
      const unsigned from = source(4 * word + each);
      const bool is_new = from / 4 == source(4 * word + byte) / 4;
      result |= (is_new ? 4 + from % 4 : is_permuted ? each : from % 4) << 4 * each;
    }
    return result;
  }
};

/// `word` has the bytes of word Word that come from the same words as those before Byte.
template <typename Order, unsigned Word, unsigned Byte = 1>
__device__ __forceinline__ unsigned put_together(unsigned word, const unsigned (&from)[Order::k_words]) {
  if constexpr (Byte == 4) {
    return word;
  } else {
    if constexpr (Order::is_first_of_its_word(Word, Byte)) {
      word = __byte_perm(word, from[Order::source(4 * Word + Byte) / 4], Order::selector(Word, Byte));
    }
    return put_together<Order, Word, Byte + 1>(word, from);
  }
}

template <typename Order, unsigned Word = 0>
__device__ __forceinline__ void exchange(const unsigned (&from)[Order::k_words], unsigned (&to)[Order::k_words]) {
  if constexpr (Word < Order::k_words) {
    to[Word] = put_together<Order, Word>(from[Order::source(4 * Word) / 4], from);
    exchange<Order, Word + 1>(from, to);
  }
}

}  // namespace kiln
