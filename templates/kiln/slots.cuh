// What the threads of a block share: slots 0, 1, …, neighbouring threads having neighbouring slots.
#pragma once

namespace kiln {

/// keep(slot, load(slot)) for `count` slots, at most Most; Batch at a time: so many loads are in flight before the
/// first is waited for.
template <unsigned Most, unsigned Threads, unsigned Batch, typename Held, typename Load, typename Keep>
__device__ __forceinline__ void for_each_slot(unsigned count, Load load, Keep keep) {
  constexpr unsigned k_turns = (Most + Threads - 1) / Threads;
  constexpr unsigned k_batch = k_turns < Batch ? k_turns : Batch;
#pragma unroll 1
  for (unsigned base = threadIdx.x; base < count; base += k_batch * Threads) {
    Held held[k_batch];
#pragma unroll
    for (unsigned turn = 0; turn < k_batch; ++turn) {
      const unsigned slot = base + turn * Threads;
      if (slot < count) {
        held[turn] = load(slot);
      }
    }
#pragma unroll
    for (unsigned turn = 0; turn < k_batch; ++turn) {
      const unsigned slot = base + turn * Threads;
      if (slot < count) {
        keep(slot, held[turn]);
      }
    }
  }
}

}  // namespace kiln
