// Contiguous global memory into shared memory.
#pragma once

#include "kiln/memory.cuh"

namespace kiln {

/// All threads of the block copy `bytes` bytes, whole units, from `source` to shared memory, with 16-byte loads
/// wherever they are aligned. Returns how far behind `shared` they start: where `source` stands between two 16-byte
/// boundaries, or 0 if it is not aligned to the unit. Nothing outside of [source, source + bytes) is read. Needs a
/// barrier after.
template <typename Unit, typename Element, unsigned Threads, bool Asynchronous>
__device__ __forceinline__ unsigned stage(unsigned char* shared, const unsigned char* source, unsigned bytes) {
  if (!is_aligned(source, sizeof(Unit))) {
#pragma unroll 1
    for (unsigned at = threadIdx.x * sizeof(Element); at < bytes; at += Threads * sizeof(Element)) {
      store(shared + at, load_constant<Element>(source + at));
    }
    return 0;
  }
  const unsigned phase = static_cast<unsigned>(reinterpret_cast<unsigned long long>(source) & 15);
  // The bytes before the first boundary and behind the last, at most one vector each, are moved as units.
  const unsigned until_boundary = (16 - phase) & 15;
  const unsigned head = until_boundary < bytes ? until_boundary : bytes;
  const unsigned vectors = (bytes - head) / 16;
  const unsigned tail = head + vectors * 16;
  unsigned char* to = shared + phase;
  if constexpr (Asynchronous) {
    for (unsigned vector = threadIdx.x; vector < vectors; vector += Threads) {
      copy_asynchronously(to + head + vector * 16, source + head + vector * 16);
    }
  } else {
    // Several loads are in flight before the first is waited for.
    constexpr unsigned k_batch = 4;
#pragma unroll 1
    for (unsigned base = threadIdx.x; base < vectors; base += k_batch * Threads) {
      uint4 held[k_batch];
#pragma unroll
      for (unsigned turn = 0; turn < k_batch; ++turn) {
        const unsigned vector = base + turn * Threads;
        if (vector < vectors) {
          held[turn] = load_constant<uint4>(source + head + vector * 16);
        }
      }
#pragma unroll
      for (unsigned turn = 0; turn < k_batch; ++turn) {
        const unsigned vector = base + turn * Threads;
        if (vector < vectors) {
          store(to + head + vector * 16, held[turn]);
        }
      }
    }
  }
  if (threadIdx.x < 16 / sizeof(Unit)) {
    const unsigned at = threadIdx.x * sizeof(Unit);
    if (at < head) {
      store(to + at, load_constant<Unit>(source + at));
    }
    if (tail + at < bytes) {
      store(to + tail + at, load_constant<Unit>(source + tail + at));
    }
  }
  if constexpr (Asynchronous) {
    wait_for_copies();
  }
  return phase;
}

}  // namespace kiln
