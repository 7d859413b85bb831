// Sixteen bytes of output, put together from units that lie anywhere in shared memory.
#pragma once

#include "kiln/index_table.cuh"
#include "kiln/memory.cuh"

namespace kiln {

/// Units [First, First + 4 / sizeof(Unit)) of a vector, as one 32-bit word. For units of 1, 2 and 4 bytes.
template <unsigned First, typename Unit, typename Indices>
__device__ __forceinline__ unsigned gather_word(const unsigned char* shared, const Indices& indices) {
  unsigned word = 0;
#pragma unroll
  for (unsigned part = 0; part < 4 / sizeof(Unit); ++part) {
    const unsigned value = load<Unit>(shared + indices[First + part] * sizeof(Unit));
    word |= value << (8 * sizeof(Unit) * part);
  }
  return word;
}

template <typename Unit, typename Indices>
__device__ __forceinline__ uint4 gather_vector(const unsigned char* shared, const Indices& indices) {
  uint4 vector;
  if constexpr (sizeof(Unit) == 16) {
    vector = load<uint4>(shared + indices[0] * 16);
  } else if constexpr (sizeof(Unit) == 8) {
    const uint2 low = load<uint2>(shared + indices[0] * 8);
    const uint2 high = load<uint2>(shared + indices[1] * 8);
    vector.x = low.x;
    vector.y = low.y;
    vector.z = high.x;
    vector.w = high.y;
  } else {
    constexpr unsigned k_units = 4 / sizeof(Unit);
    vector.x = gather_word<0 * k_units, Unit>(shared, indices);
    vector.y = gather_word<1 * k_units, Unit>(shared, indices);
    vector.z = gather_word<2 * k_units, Unit>(shared, indices);
    vector.w = gather_word<3 * k_units, Unit>(shared, indices);
  }
  return vector;
}

}  // namespace kiln
