// Neighbouring units in registers.
#pragma once

#include "kiln/memory.cuh"

namespace kiln {

/// Count units, 16 bytes at most: a power of two of either.
template <typename Unit, unsigned Count>
struct alignas(Count * sizeof(Unit)) Pack {
  static constexpr unsigned k_bytes = Count * sizeof(Unit);
  Unit of[Count];

  /// The bytes from `at` on.
  template <unsigned Bytes>
  __device__ __forceinline__ typename BitsType<Bytes>::Type piece(unsigned at) const {
    return load<typename BitsType<Bytes>::Type>(reinterpret_cast<const unsigned char*>(of) + at);
  }
};

/// From global memory that nobody writes while the kernel runs; `aligned` to the pack, or to Element.
template <typename Units, typename Element>
__device__ __forceinline__ Units read_pack(const unsigned char* address, bool aligned) {
  using Whole = typename BitsType<Units::k_bytes>::Type;
  Units units;
  if (aligned) {
    store(&units, load_constant<Whole>(address));
  } else {
#pragma unroll
    for (unsigned at = 0; at < Units::k_bytes; at += sizeof(Element)) {
      store(reinterpret_cast<unsigned char*>(&units) + at, load_constant<Element>(address + at));
    }
  }
  return units;
}

/// To global memory that this kernel does not read again; `aligned` as above.
template <typename Element, typename Units>
__device__ __forceinline__ void write_pack(unsigned char* address, const Units& units, bool aligned) {
  using Whole = typename BitsType<Units::k_bytes>::Type;
  if (aligned) {
    store_streaming(address, load<Whole>(&units));
  } else {
#pragma unroll
    for (unsigned at = 0; at < Units::k_bytes; at += sizeof(Element)) {
      store(address + at, load<Element>(reinterpret_cast<const unsigned char*>(&units) + at));
    }
  }
}

}  // namespace kiln
