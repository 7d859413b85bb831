// The header as a host compiler sees it: nothing in it is CUDA's but a few words.
#include <cmath>
#include <cstring>

#define __device__
#define __forceinline__ inline
struct uint2 {
  unsigned x, y;
};
using std::memcpy;
using std::rint;
#include "../../../templates/kiln/numbers.cuh"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "support/number_format.hpp"

namespace kiln {
namespace {

using test::NumberFormat;

constexpr double k_infinity = std::numeric_limits<double>::infinity();

/// Every number of the format, what lies in the middle of two, and the neighbours of both in Type; numbers far beyond
/// on either side; random ones.
template <typename Type>
std::vector<Type> hard_numbers(const NumberFormat& format) {
  std::vector<Type> numbers{0, std::numeric_limits<Type>::infinity(), std::numeric_limits<Type>::max(),
                            std::numeric_limits<Type>::min(), std::numeric_limits<Type>::denorm_min()};
  const std::vector<double>& finite = format.finite();
  const auto add = [&](double value) {
    const Type number = static_cast<Type>(value);
    numbers.push_back(number);
    numbers.push_back(std::nextafter(number, Type{0}));
    numbers.push_back(std::nextafter(number, std::numeric_limits<Type>::infinity()));
  };
  for (std::size_t place = 1; place < finite.size(); ++place) {
    add(finite[place]);
    add((finite[place] + finite[place - 1]) / 2);
  }
  add(finite.back() + (finite.back() - finite[finite.size() - 2]) / 2);
  std::mt19937_64 random(5);
  for (int number = 0; number < 200'000; ++number) {
    const auto bits = random();
    Type any;
    std::memcpy(&any, &bits, sizeof(any));
    // Most of all numbers are far from those of a narrow format: these are not.
    const int exponent = static_cast<int>(random() % 60) - 40;
    const Type near = std::ldexp(static_cast<Type>(1 + static_cast<double>(random() >> 11) / 0x1p53), exponent);
    numbers.push_back(std::isnan(any) ? Type{1} : any);
    numbers.push_back(near);
  }
  return numbers;
}

template <typename Number, typename Type>
void expect_nearest(const NumberFormat& format) {
  int wrong = 0;
  for (const Type magnitude : hard_numbers<Type>(format)) {
    for (const Type number : {magnitude, -magnitude}) {
      const unsigned found = Number::encode(number);
      const unsigned right = format.nearest_to(number);
      if (found != right && ++wrong < 10) {
        ADD_FAILURE() << std::hexfloat << number << " became " << std::hex << found << " instead of " << right;
      }
    }
  }
  EXPECT_EQ(wrong, 0);
  const Type nan = std::numeric_limits<Type>::quiet_NaN();
  EXPECT_TRUE(format.is_nan(Number::encode(nan)));
  EXPECT_TRUE(format.is_nan(Number::encode(-nan)));
  EXPECT_TRUE(format.is_nan(Number::encode(std::numeric_limits<Type>::signaling_NaN())));
}

template <typename Number>
void expect_format(const NumberFormat& format) {
  for (unsigned bits = 0; bits < format.count(); ++bits) {
    const auto element = static_cast<typename Number::Bits>(bits);
    const float found = Number::decode(element);
    const double right = format.value_of(bits);
    if (std::isnan(right)) {
      ASSERT_TRUE(std::isnan(found)) << bits;
      ASSERT_TRUE(format.is_nan(Number::encode(found))) << bits;
      continue;
    }
    ASSERT_EQ(double{found}, right) << bits;
    ASSERT_EQ(std::signbit(found), std::signbit(right)) << bits;
    if (std::isfinite(right)) {  // there and back
      ASSERT_EQ(Number::encode(found), bits);
      ASSERT_EQ(Number::encode(right), bits);
    }
  }
  expect_nearest<Number, float>(format);
  expect_nearest<Number, double>(format);
}

TEST(Numbers, F16) { expect_format<F16>(NumberFormat::f16()); }
TEST(Numbers, Bf16) { expect_format<Bf16>(NumberFormat::bf16()); }
TEST(Numbers, E4m3) { expect_format<E4m3>(NumberFormat::e4m3()); }
TEST(Numbers, E5m2) { expect_format<E5m2>(NumberFormat::e5m2()); }

TEST(Numbers, KnownBits) {
  EXPECT_EQ(F16::encode(1.0F), 0x3C00);
  EXPECT_EQ(F16::encode(65519.996F), 0x7BFF);
  EXPECT_EQ(F16::encode(65520.0F), 0x7C00);
  EXPECT_EQ(F16::encode(-0.0F), 0x8000);
  EXPECT_EQ(F16::encode(0x1p-24F), 0x0001);
  EXPECT_EQ(F16::encode(0x1p-25F), 0x0000);        // a tie, to even
  EXPECT_EQ(F16::encode(0x1.8p-24F), 0x0002);      // a tie, to even
  EXPECT_EQ(F16::encode(0x1.000001p-25), 0x0001);  // more than a tie, in a double
  EXPECT_EQ(Bf16::encode(1.0F), 0x3F80);
  EXPECT_EQ(Bf16::encode(3.4e38F), 0x7F80);
  EXPECT_EQ(E4m3::encode(448.0F), 0x7E);
  EXPECT_EQ(E4m3::encode(1e9F), 0x7E);
  EXPECT_EQ(E4m3::encode(-k_infinity), 0xFE);
  EXPECT_EQ(E5m2::encode(k_infinity), 0x7B);
  EXPECT_EQ(E5m2::encode(1.0F), 0x3C);
}

TEST(Numbers, WiderFloats) {
  EXPECT_EQ(F32::decode(0x3F800000U), 1.0F);
  EXPECT_EQ(F32::encode(1.0F), 0x3F800000U);
  EXPECT_EQ(F32::encode(1.0 + 0x1p-24), 0x3F800000U);  // a tie, to even
  EXPECT_EQ(F32::encode(1.0 + 0x1.8p-23), 0x3F800002U);
  EXPECT_EQ(F32::encode(1e300), 0x7F800000U);
  const uint2 bits = F64::encode(-2.5);
  EXPECT_EQ(bits.x, 0U);
  EXPECT_EQ(bits.y, 0xC0040000U);
  EXPECT_EQ(F64::decode(bits), -2.5);
}

template <typename Number, typename Integer>
void expect_whole() {
  constexpr double k_least = std::numeric_limits<Integer>::min();
  constexpr double k_most = std::numeric_limits<Integer>::max();
  const auto number_of = [](double value) { return static_cast<double>(static_cast<Integer>(Number::encode(value))); };
  const auto number_of_float = [](float value) {
    return static_cast<double>(static_cast<Integer>(Number::encode(value)));
  };
  for (const double at : {k_least, 0.0, 1.0, 2.0, 100.0, k_most}) {
    for (const double by : {-1e9, -1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1e9}) {
      const double right = std::clamp(std::nearbyint(at + by), k_least, k_most);
      EXPECT_EQ(number_of(at + by), right) << at << " + " << by;
      const auto value = static_cast<float>(at + by);
      EXPECT_EQ(number_of_float(value), std::clamp(std::nearbyint(double{value}), k_least, k_most)) << value;
    }
  }
  for (const double beyond : {-1e300, 1e300, -k_infinity, k_infinity}) {
    EXPECT_EQ(number_of(beyond), beyond < 0 ? k_least : k_most);
    EXPECT_EQ(number_of_float(static_cast<float>(beyond)), beyond < 0 ? k_least : k_most);
  }
  EXPECT_EQ(number_of(std::numeric_limits<double>::quiet_NaN()), 0.0);
  EXPECT_EQ(number_of_float(std::numeric_limits<float>::quiet_NaN()), 0.0);
  for (const double exact : {k_least, 0.0, k_most}) {
    const auto bits = static_cast<typename Number::Bits>(static_cast<Integer>(exact));
    EXPECT_EQ(double{Number::decode(bits)}, exact);
  }
}

TEST(Numbers, WholeOnesAreRoundedAndBounded) {
  expect_whole<I8, signed char>();
  expect_whole<U8, unsigned char>();
  expect_whole<I16, short>();
  expect_whole<U16, unsigned short>();
  expect_whole<I32, int>();
  expect_whole<U32, unsigned>();
}

TEST(Numbers, WhatAnExpressionGivesIsRoundedOnce) {
  EXPECT_EQ(bits_for<F16>(0x1.000001p-25), 0x0001);  // by way of a float it would be 0
  EXPECT_EQ(bits_for<F16>(1.0F), 0x3C00);
  EXPECT_EQ(bits_for<F16>(true), 0x3C00);
  EXPECT_EQ(bits_for<F32>(7U), 0x40E00000U);
  EXPECT_EQ(bits_for<F16>(65'519), 0x7BFF);
  EXPECT_EQ(bits_for<I32>(16'777'217), 16'777'217U);  // by way of a float it would be even
  static_assert(std::is_same_v<F16::Value, float> && std::is_same_v<I32::Value, double>);
}

TEST(Numbers, WholeOnesOf64BitsAreRoundedOnce) {
  // Half way between two floats and one more, which a double rounds away.
  EXPECT_EQ(bits_for<F32>(9'007'199'791'611'905LL), 0x5A000001U);
  EXPECT_EQ(bits_for<F32>(-9'007'199'791'611'905LL), 0xDA000001U);
  EXPECT_EQ(bits_for<F32>(9'007'199'791'611'905ULL), 0x5A000001U);
  EXPECT_EQ(bits_for<F32>(9'007'199'791'611'904LL), 0x5A000000U);  // half way: to even
  EXPECT_EQ(bits_for<Bf16>(36'169'534'507'319'297LL), 0x5B01);
  EXPECT_EQ(bits_for<F32>(std::numeric_limits<long long>::min()), 0xDF000000U);
  EXPECT_EQ(bits_for<F32>(std::numeric_limits<unsigned long long>::max()), 0x5F800000U);
  EXPECT_EQ(bits_for<I32>(std::numeric_limits<long long>::max()), 0x7FFFFFFFU);
  EXPECT_EQ(bits_for<I32>(-5LL), static_cast<unsigned>(-5));
  // A double is one rounding from the number itself.
  const uint2 bits = bits_for<F64>(9'007'199'254'740'993LL);
  EXPECT_EQ(bits.y, 0x43400000U);
  EXPECT_EQ(bits.x, 0U);
  std::mt19937_64 random(53);
  for (int round = 0; round < 100'000; ++round) {
    const auto number = static_cast<long long>(random() >> random() % 12);
    const float nearest = static_cast<float>(number);  // once, as the host does it
    unsigned expected = 0;
    std::memcpy(&expected, &nearest, sizeof(expected));
    ASSERT_EQ(bits_for<F32>(number), expected) << number;
  }
}

}  // namespace
}  // namespace kiln
