// The header as a host compiler sees it: nothing in it is CUDA's but a few words and the permutation of bytes.
#define __device__
#define __forceinline__ inline
namespace kiln {
/// By the definition in CUDA's manual: byte n of the result is that of b:a which nibble n names.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  unsigned result = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    const unsigned from = selector >> 4 * byte & 7;
    result |= ((from < 4 ? a : b) >> from % 4 * 8 & 0xFF) << 8 * byte;
  }
  return result;
}
}  // namespace kiln
#include "../../../templates/kiln/exchange.cuh"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>

namespace kiln {
namespace {

/// Bytes that are all different, moved in registers and unit by unit.
template <typename Unit, unsigned Channels, bool ToPixels>
void expect_definition() {
  using Order = Exchange<Unit, Channels, ToPixels>;
  constexpr std::size_t k_pixels = 16 / sizeof(Unit);
  std::array<std::uint8_t, sizeof(unsigned) * Order::k_words> from{};
  std::iota(from.begin(), from.end(), std::uint8_t{1});
  unsigned old_words[Order::k_words];
  unsigned new_words[Order::k_words];
  std::memcpy(old_words, from.data(), from.size());
  exchange<Order>(old_words, new_words);
  std::array<std::uint8_t, sizeof(unsigned) * Order::k_words> to{};
  std::memcpy(to.data(), new_words, to.size());
  for (std::size_t pixel = 0; pixel < k_pixels; ++pixel) {
    for (std::size_t channel = 0; channel < Channels; ++channel) {
      const std::size_t in_pixels = (pixel * Channels + channel) * sizeof(Unit);
      const std::size_t in_planes = (channel * k_pixels + pixel) * sizeof(Unit);
      const std::size_t now = ToPixels ? in_pixels : in_planes;
      const std::size_t before = ToPixels ? in_planes : in_pixels;
      EXPECT_EQ(std::memcmp(&to[now], &from[before], sizeof(Unit)), 0)
          << "units of " << sizeof(Unit) << ", " << Channels << " channels " << (ToPixels ? "to pixels" : "to planes")
          << ", pixel " << pixel << ", channel " << channel;
    }
  }
}

template <unsigned... Number>
void expect_definition_of(std::integer_sequence<unsigned, Number...> /*channels*/) {
  (expect_definition<std::uint8_t, Number + 2, true>(), ...);
  (expect_definition<std::uint8_t, Number + 2, false>(), ...);
  (expect_definition<std::uint16_t, Number + 2, true>(), ...);
  (expect_definition<std::uint16_t, Number + 2, false>(), ...);
  (expect_definition<std::uint32_t, Number + 2, true>(), ...);
  (expect_definition<std::uint32_t, Number + 2, false>(), ...);
}

TEST(Exchange, FollowsTheDefinition) { expect_definition_of(std::make_integer_sequence<unsigned, 7>()); }

/// A word whose bytes come from so many words is put together by one permutation less.
template <typename Unit, unsigned Channels, bool ToPixels>
unsigned permutations() {
  using Order = Exchange<Unit, Channels, ToPixels>;
  unsigned count = 0;
  for (unsigned word = 0; word < Order::k_words; ++word) {
    for (unsigned byte = 1; byte < 4; ++byte) {
      count += Order::is_first_of_its_word(word, byte) ? 1 : 0;
    }
  }
  return count;
}

TEST(Exchange, TakesFewPermutations) {
  EXPECT_EQ((permutations<std::uint8_t, 3, true>()), 24U);
  EXPECT_EQ((permutations<std::uint8_t, 3, false>()), 24U);
  EXPECT_EQ((permutations<std::uint8_t, 2, true>()), 8U);
  EXPECT_EQ((permutations<std::uint16_t, 3, true>()), 12U);
  EXPECT_EQ((permutations<std::uint32_t, 4, true>()), 0U);
}

}  // namespace
}  // namespace kiln
