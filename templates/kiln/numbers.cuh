// Element types as numbers: what bits stand for, and the bits of a number, rounded to nearest with ties to even.
// Written out on bits, so that no kernel pulls in a header for `__half` and its kin, and the same on every machine but
// for which NaN a NaN becomes; where a GPU has an instruction for it, that is used.
#pragma once

// Inline assembly is for the GPU alone. Conversions to f16 are in every GPU, those to bf16 come with sm_80, those to
// eight bits with sm_89; they need no newer compiler from sm_90 on.
#if !defined(KILN_EMULATION) && defined(__CUDA_ARCH__)
#define KILN_HAS_CVT_F16 1
#define KILN_HAS_CVT_BF16 (__CUDA_ARCH__ >= 800)
#define KILN_HAS_CVT_F8 (__CUDA_ARCH__ >= 900)
#else
#define KILN_HAS_CVT_F16 0
#define KILN_HAS_CVT_BF16 0
#define KILN_HAS_CVT_F8 0
#endif

namespace kiln {

/// The same bytes as another type.
template <typename To, typename From>
__device__ __forceinline__ To same_bits(From value) {
  static_assert(sizeof(To) == sizeof(From), "as many bytes");
  To result;
  memcpy(&result, &value, sizeof(result));
  return result;
}

/// A binary floating-point type wide enough to compute in.
template <typename Type>
struct Wide;
template <>
struct Wide<float> {
  using Word = unsigned int;
  static constexpr unsigned exponent_bits = 8;
  static constexpr unsigned mantissa_bits = 23;
};
template <>
struct Wide<double> {
  using Word = unsigned long long;
  static constexpr unsigned exponent_bits = 11;
  static constexpr unsigned mantissa_bits = 52;
};

/// The magnitude of a number, given as bits without the sign, in a format of fewer bits, whose largest finite number
/// has the bits `largest`. What is beyond that becomes `beyond`; NaN becomes `nan`.
template <typename Type, unsigned ExponentBits, unsigned MantissaBits>
__device__ __forceinline__ unsigned narrowed(typename Wide<Type>::Word magnitude, unsigned largest, unsigned beyond,
                                             unsigned nan) {
  using Word = typename Wide<Type>::Word;
  constexpr unsigned k_mantissa = Wide<Type>::mantissa_bits;
  constexpr Word k_one = 1;
  constexpr Word k_infinity = ((k_one << Wide<Type>::exponent_bits) - 1) << k_mantissa;
  // What the exponents of the two formats differ by; the wide one's are larger.
  constexpr Word k_rebias = (k_one << (Wide<Type>::exponent_bits - 1)) - (k_one << (ExponentBits - 1));
  constexpr unsigned k_dropped = k_mantissa - MantissaBits;
  if (magnitude > k_infinity) {
    return nan;
  }
  const Word exponent = magnitude >> k_mantissa;
  Word kept;      // the result, and behind it, in
  unsigned bits;  // so many bits, what is to be rounded away
  if (exponent > k_rebias) {
    kept = magnitude - (k_rebias << k_mantissa);
    bits = k_dropped;
  } else {
    // Below the smallest normal number: the leading bit stands in the mantissa, one place lower for each power of two.
    const Word normal = exponent == 0 ? 0 : k_one << k_mantissa;
    kept = (magnitude & ((k_one << k_mantissa) - 1)) | normal;
    const Word shift = k_dropped + k_rebias + 1 - (exponent == 0 ? 1 : exponent);
    bits = shift > k_mantissa + 2 ? k_mantissa + 2 : static_cast<unsigned>(shift);
  }
  const Word tie = k_one << (bits - 1);
  const Word odd = kept >> bits & 1;
  const Word rounded = (kept + (tie - 1) + odd) >> bits;
  return rounded > largest ? beyond : static_cast<unsigned>(rounded);
}

/// A floating-point format of 16 or 8 bits: sign, exponent, mantissa. Finite magnitudes go up to `Largest`; one that
/// would be beyond becomes `Beyond`. `Infinities`: the largest exponent is that of infinity and NaN alone.
template <typename BitsType, unsigned ExponentBits, unsigned MantissaBits, unsigned Largest, unsigned Beyond,
          unsigned Nan, bool Infinities>
struct NarrowFloat {
  using Bits = BitsType;
  using Value = float;
  static constexpr unsigned k_sign = 8 * sizeof(Bits) - 1;

  template <typename Type>
  static __device__ __forceinline__ Bits rounded(Type value) {
    using Word = typename Wide<Type>::Word;
    constexpr unsigned k_top = 8 * sizeof(Word) - 1;
    const Word word = same_bits<Word>(value);
    const unsigned magnitude =
        narrowed<Type, ExponentBits, MantissaBits>(word & ~(static_cast<Word>(1) << k_top), Largest, Beyond, Nan);
    return static_cast<Bits>(magnitude | static_cast<unsigned>(word >> k_top) << k_sign);
  }

  /// Exact.
  static __device__ __forceinline__ float widened(Bits bits) {
    constexpr unsigned k_to_float = 23 - MantissaBits;
    constexpr unsigned k_rebias = (1u << 7) - (1u << (ExponentBits - 1));
    const unsigned magnitude = bits & ((1u << k_sign) - 1);
    const unsigned sign = static_cast<unsigned>(bits) >> k_sign << 31;
    const unsigned exponent = magnitude >> MantissaBits;
    unsigned word;
    if (Infinities ? exponent == (1u << ExponentBits) - 1 : magnitude > Largest) {
      word = 0x7F800000u | (Infinities ? magnitude << (k_to_float + 9) >> 9 : 0x00400000u);
    } else if (exponent != 0 || k_rebias == 0) {
      word = (magnitude << k_to_float) + (k_rebias << 23);
    } else {
      // As many of the smallest as the mantissa says: both factors and the product are exact.
      const float smallest = same_bits<float>((k_rebias + 1 - MantissaBits) << 23);
      word = same_bits<unsigned>(static_cast<float>(magnitude) * smallest);
    }
    return same_bits<float>(word | sign);
  }
};

struct F16 : NarrowFloat<unsigned short, 5, 10, 0x7BFF, 0x7C00, 0x7FFF, true> {
  static __device__ __forceinline__ float decode(Bits bits) {
#if KILN_HAS_CVT_F16
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
#else
    return widened(bits);
#endif
  }
  static __device__ __forceinline__ Bits encode(float value) {
#if KILN_HAS_CVT_F16
    Bits bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
#else
    return rounded(value);
#endif
  }
  static __device__ __forceinline__ Bits encode(double value) { return rounded(value); }
};

struct Bf16 : NarrowFloat<unsigned short, 8, 7, 0x7F7F, 0x7F80, 0x7FFF, true> {
  /// The upper half of a float.
  static __device__ __forceinline__ float decode(Bits bits) {
    return same_bits<float>(static_cast<unsigned>(bits) << 16);
  }
  static __device__ __forceinline__ Bits encode(float value) {
#if KILN_HAS_CVT_BF16
    Bits bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
#else
    return rounded(value);
#endif
  }
  static __device__ __forceinline__ Bits encode(double value) { return rounded(value); }
};

/// Infinities and what is beyond the largest finite number become that, in both formats of 8 bits.
struct E4m3 : NarrowFloat<unsigned char, 4, 3, 0x7E, 0x7E, 0x7F, false> {
  static __device__ __forceinline__ float decode(Bits bits) {
#if KILN_HAS_CVT_F8
    unsigned int halves;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<unsigned short>(bits)));
    return F16::decode(static_cast<unsigned short>(halves));
#else
    return widened(bits);
#endif
  }
  static __device__ __forceinline__ Bits encode(float value) {
#if KILN_HAS_CVT_F8
    unsigned short bits;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(0.0f), "f"(value));
    return static_cast<Bits>(bits);
#else
    return rounded(value);
#endif
  }
  static __device__ __forceinline__ Bits encode(double value) { return rounded(value); }
};

struct E5m2 : NarrowFloat<unsigned char, 5, 2, 0x7B, 0x7B, 0x7F, true> {
  /// The upper half of an f16.
  static __device__ __forceinline__ float decode(Bits bits) {
    return F16::decode(static_cast<unsigned short>(static_cast<unsigned>(bits) << 8));
  }
  static __device__ __forceinline__ Bits encode(float value) {
#if KILN_HAS_CVT_F8
    unsigned short bits;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(bits) : "f"(0.0f), "f"(value));
    return static_cast<Bits>(bits);
#else
    return rounded(value);
#endif
  }
  static __device__ __forceinline__ Bits encode(double value) { return rounded(value); }
};

struct F32 {
  using Bits = unsigned int;
  using Value = float;
  static __device__ __forceinline__ float decode(Bits bits) { return same_bits<float>(bits); }
  static __device__ __forceinline__ Bits encode(float value) { return same_bits<Bits>(value); }
  static __device__ __forceinline__ Bits encode(double value) { return same_bits<Bits>(static_cast<float>(value)); }
};

struct F64 {
  using Bits = uint2;
  using Value = double;
  static __device__ __forceinline__ double decode(Bits bits) { return same_bits<double>(bits); }
  static __device__ __forceinline__ Bits encode(double value) { return same_bits<Bits>(value); }
};

/// Whole numbers of up to 32 bits. What is beyond them becomes the nearest of them, NaN becomes 0. `ValueType` holds
/// all of them.
template <typename BitsType, typename Integer, typename ValueType>
struct Whole {
  using Bits = BitsType;
  using Value = ValueType;
  static constexpr bool k_signed = static_cast<Integer>(-1) < 0;
  static constexpr unsigned k_bits = 8 * sizeof(Integer) - (k_signed ? 1 : 0);
  static constexpr double k_most = static_cast<double>((1ull << k_bits) - 1);
  static constexpr double k_least = k_signed ? -k_most - 1 : 0;

  static __device__ __forceinline__ Value decode(Bits bits) { return static_cast<Value>(static_cast<Integer>(bits)); }
  /// A float holds the bounds of types of 8 and 16 bits.
  static __device__ __forceinline__ Bits encode(float value) {
    if constexpr (sizeof(Integer) < 4) {
      return within(value);
    } else {
      return within(static_cast<double>(value));
    }
  }
  static __device__ __forceinline__ Bits encode(double value) { return within(value); }

 private:
  template <typename Type>
  static __device__ __forceinline__ Bits within(Type value) {
    constexpr Type k_high = static_cast<Type>(k_most);
    constexpr Type k_low = static_cast<Type>(k_least);
    if (value != value) {
      return 0;
    }
    const Type bounded = value < k_low ? k_low : value > k_high ? k_high : value;
    return static_cast<Bits>(static_cast<Integer>(rint(bounded)));
  }
};

struct I8 : Whole<unsigned char, signed char, float> {};
struct U8 : Whole<unsigned char, unsigned char, float> {};
struct I16 : Whole<unsigned short, short, float> {};
struct U16 : Whole<unsigned short, unsigned short, float> {};
struct I32 : Whole<unsigned int, int, double> {};
struct U32 : Whole<unsigned int, unsigned int, double> {};

/// A number as a float where it is one, else as a double.
__device__ __forceinline__ float as_number(float value) { return value; }
template <typename Type>
__device__ __forceinline__ double as_number(Type value) {
  return static_cast<double>(value);
}

/// A whole number of 64 bits that no double holds, as one of those beside it that is odd: what is rounded once more, to
/// fewer bits, comes out as the number itself would.
template <typename Integer>
__device__ __forceinline__ double odd_number(Integer value) {
  constexpr unsigned long long k_dropped = 0x7FF;
  const bool negative = value < 0;
  unsigned long long size =
      negative ? 0ull - static_cast<unsigned long long>(value) : static_cast<unsigned long long>(value);
  if (size >> 53 != 0) {
    size = (size & ~k_dropped) | ((size & k_dropped) != 0 ? k_dropped + 1 : 0);
  }
  return negative ? -static_cast<double>(size) : static_cast<double>(size);
}

template <typename To>
constexpr bool k_is_double = false;
template <>
constexpr bool k_is_double<F64> = true;

/// The bits of an element of type To that stands for a number.
template <typename To, typename Type>
__device__ __forceinline__ typename To::Bits bits_for(Type value) {
  if constexpr (sizeof(Type) == 8 && static_cast<Type>(1) / 2 == 0 && !k_is_double<To>) {
    return To::encode(odd_number(value));
  } else {
    return To::encode(as_number(value));
  }
}

}  // namespace kiln
