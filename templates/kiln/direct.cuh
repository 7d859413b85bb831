// One thread a unit of the output: reads its source block's index, then the unit itself.
#pragma once

#include "kiln/memory.cuh"

namespace kiln {

/// Moves unit `to` of y, which is unit `in_row` of a row; the input's row begins with block `first`. Place and Offset
/// are unsigned types that hold every place and every offset in a row. Streaming: what is written leaves the caches
/// first.
template <typename Unit, typename Element, bool Aligned, bool Streaming, unsigned long long Units, typename Place,
          typename Offset, typename Index>
__device__ __forceinline__ void permute_unit(void* y, const void* x, Place to, Place first, Offset in_row,
                                             Index index) {
  const Place from = (first + index(in_row / static_cast<Offset>(Units))) * static_cast<Place>(Units) +
                     in_row % static_cast<Offset>(Units);
  unsigned char* destination = static_cast<unsigned char*>(y) + static_cast<unsigned long long>(to) * sizeof(Unit);
  const unsigned char* source =
      static_cast<const unsigned char*>(x) + static_cast<unsigned long long>(from) * sizeof(Unit);
  if constexpr (Aligned && Streaming) {
    store_streaming(destination, load_constant<Unit>(source));
  } else if constexpr (Aligned) {
    store(destination, load_constant<Unit>(source));
  } else {
#pragma unroll
    for (unsigned part = 0; part < sizeof(Unit); part += sizeof(Element)) {
      store(destination + part, load_constant<Element>(source + part));
    }
  }
}

/// y[o, j, i] = x[o, index(j), i]: rows of `Out` blocks from rows of `In` blocks, a block of `Units` units of type
/// Unit, by blocks of `Threads` threads. Pointers are aligned to Element at least. Offset counts the units of one
/// output row and a block of threads. Small: launches are expected to be, so that what they write is soon read.
template <typename Unit, typename Element, typename Offset, bool Small, unsigned Threads, unsigned long long Out,
          unsigned long long In, unsigned long long Units, typename Index>
__device__ __forceinline__ void permute_directly(void* y, const void* x, unsigned long long rows, Index index) {
  constexpr unsigned long long k_row = Out * Units;
  constexpr unsigned long long k_few_rows = (0xFFFFFFFFull - Threads) / ((Out > In ? Out : In) * Units);
  const bool aligned = sizeof(Unit) == sizeof(Element) || (is_aligned(y, sizeof(Unit)) && is_aligned(x, sizeof(Unit)));
  if constexpr (k_few_rows > 0) {
    // Where 32 bits do, as nearly always, little comes before the index: what is asked first is 4 % of a small launch.
    if (rows <= k_few_rows && aligned) {
      const unsigned units = static_cast<unsigned>(rows) * static_cast<unsigned>(k_row);
      const unsigned to = blockIdx.x * Threads + threadIdx.x;
      if (to < units) {
        const unsigned row = to / static_cast<unsigned>(k_row);
        permute_unit<Unit, Element, true, !Small, Units>(y, x, to, row * static_cast<unsigned>(In),
                                                         to - row * static_cast<unsigned>(k_row), index);
      }
      if (gridDim.x >= (units + Threads - 1) / Threads) {
        return;
      }
    }
  }
  const unsigned long long total = rows * k_row;
  const unsigned long long blocks = static_cast<unsigned long long>(gridDim.x) * gridDim.y;
  unsigned long long block = blockIdx.x + static_cast<unsigned long long>(gridDim.x) * blockIdx.y;
  for (unsigned long long base = block * Threads; base < total; base += blocks * Threads) {
    // The block's first unit is found in 64 bits, once for all of its threads; the rest fits in Offset.
    const unsigned long long first_row = base / k_row;
    const Offset unit = static_cast<Offset>(base - first_row * k_row) + threadIdx.x;
    const Offset row = unit / static_cast<Offset>(k_row);
    const Offset in_row = unit % static_cast<Offset>(k_row);
    const unsigned long long to = base + threadIdx.x;
    if (to >= total) {
      return;
    }
    const unsigned long long first = (first_row + row) * In;
    if (aligned) {
      permute_unit<Unit, Element, true, true, Units>(y, x, to, first, in_row, index);
    } else {
      permute_unit<Unit, Element, false, false, Units>(y, x, to, first, in_row, index);
    }
  }
}

}  // namespace kiln
