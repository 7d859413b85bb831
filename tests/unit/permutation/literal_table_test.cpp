// The header as a host compiler sees it: nothing in it is CUDA's but two words.
#define __device__
#define __forceinline__ inline
#include "../../../templates/kiln/literal_table.cuh"

#include <gtest/gtest.h>

#include <utility>

namespace kiln {
namespace {

constexpr unsigned entry(unsigned position) { return (position * 37 + 11) % 251; }

template <unsigned Number>
struct Literal {
  static constexpr unsigned value =
      entry(4 * Number) | entry(4 * Number + 1) << 8 | entry(4 * Number + 2) << 16 | entry(4 * Number + 3) << 24;
};

template <unsigned Size>
void expect_every_entry() {
  for (unsigned position = 0; position < Size; ++position) {
    EXPECT_EQ((select_entry<Literal, Size>(position)), entry(position)) << position << " of " << Size;
  }
}

template <unsigned... Sizes>
void expect_every_size(std::integer_sequence<unsigned, Sizes...>) {
  (expect_every_entry<Sizes + 1>(), ...);
}

TEST(LiteralTable, GivesEveryEntryOfEverySize) { expect_every_size(std::make_integer_sequence<unsigned, 130>()); }

}  // namespace
}  // namespace kiln
