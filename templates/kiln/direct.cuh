// One thread a unit of the output: reads its source block's index, then the unit itself.
#pragma once

#include "kiln/memory.cuh"

namespace kiln {

/// y[o, j, i] = x[o, index(j), i]: rows of `Out` blocks from rows of `In` blocks, a block of `Units` units of type
/// Unit. Pointers are aligned to Element at least. Offset counts the units of one output row and a block of threads.
template <typename Unit, typename Element, typename Offset, unsigned long long Out, unsigned long long In,
          unsigned long long Units, typename Index>
__device__ __forceinline__ void permute_directly(void* y, const void* x, unsigned long long rows, Index index) {
  constexpr unsigned long long k_row = Out * Units;
  unsigned char* destination = static_cast<unsigned char*>(y);
  const unsigned char* source = static_cast<const unsigned char*>(x);
  const bool aligned = is_aligned(y, sizeof(Unit)) && is_aligned(x, sizeof(Unit));
  const unsigned long long total = rows * k_row;
  const unsigned long long blocks = static_cast<unsigned long long>(gridDim.x) * gridDim.y;
  unsigned long long block = blockIdx.x + static_cast<unsigned long long>(gridDim.x) * blockIdx.y;
  for (unsigned long long base = block * blockDim.x; base < total; base += blocks * blockDim.x) {
    // The block's first unit is found in 64 bits, once for all of its threads; the rest fits in Offset.
    const unsigned long long first_row = base / k_row;
    const Offset unit = static_cast<Offset>(base - first_row * k_row) + threadIdx.x;
    const Offset row = unit / static_cast<Offset>(k_row);
    const Offset in_row = unit % static_cast<Offset>(k_row);
    const unsigned long long to = base + threadIdx.x;
    if (to >= total) {
      return;
    }
    const Offset j = in_row / static_cast<Offset>(Units);
    const Offset i = in_row % static_cast<Offset>(Units);
    const unsigned long long from = ((first_row + row) * In + index(j)) * Units + i;
    if (aligned) {
      store_streaming(destination + to * sizeof(Unit), load_constant<Unit>(source + from * sizeof(Unit)));
    } else {
#pragma unroll
      for (unsigned part = 0; part < sizeof(Unit); part += sizeof(Element)) {
        store(destination + to * sizeof(Unit) + part, load_constant<Element>(source + from * sizeof(Unit) + part));
      }
    }
  }
}

}  // namespace kiln
