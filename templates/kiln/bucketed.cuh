// Parts of the permutation in two passes: segments into shared memory, offsets in registers, rows handed from block to
// block.
#pragma once

#include "kiln/memory.cuh"

namespace kiln {

/// Count 16-bit offsets in registers; a power of two up to 16.
template <unsigned Count>
class Offsets {
 public:
  /// Offsets [number * Count, (number + 1) * Count) of a table on a vector's boundary.
  __device__ __forceinline__ void read(const unsigned char* table, unsigned number) {
    const unsigned char* bytes = table + number * (Count * 2);
    if constexpr (Count == 1) {
      words_[0] = load_constant<unsigned short>(bytes);
    } else if constexpr (Count == 2) {
      words_[0] = load_constant<unsigned int>(bytes);
    } else if constexpr (Count == 4) {
      const uint2 pair = load_constant<uint2>(bytes);
      words_[0] = pair.x;
      words_[1] = pair.y;
    } else {
#pragma unroll
      for (unsigned vector = 0; vector < Count / 8; ++vector) {
        const uint4 words = load_constant<uint4>(bytes + vector * 16);
        words_[vector * 4] = words.x;
        words_[vector * 4 + 1] = words.y;
        words_[vector * 4 + 2] = words.z;
        words_[vector * 4 + 3] = words.w;
      }
    }
  }
  __device__ __forceinline__ unsigned operator[](unsigned entry) const {
    return entry % 2 == 0 ? words_[entry / 2] & 0xffffu : words_[entry / 2] >> 16;
  }

 private:
  unsigned words_[(Count + 1) / 2];
};

/// What leaves the L2 cache first: data that nobody reads again. To be made where all threads of a warp are: a policy
/// made in a branch was seen to be compiled into an illegal instruction (NVRTC 13.0, sm_90).
class ReadOnce {
 public:
  __device__ __forceinline__ ReadOnce() {
#if KILN_HAS_CP_ASYNC
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy_));
#endif
  }
  /// 16 bytes from global to shared memory, as copy_asynchronously does.
  __device__ __forceinline__ void copy(void* shared, const void* global) const {
#if KILN_HAS_CP_ASYNC
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;"
                 :
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))), "l"(global), "l"(policy_)
                 : "memory");
#else
    store(shared, load_constant<uint4>(global));
#endif
  }

 private:
#if KILN_HAS_CP_ASYNC
  unsigned long long policy_;
#endif
};

/// What stays in the L2 cache until another block has read it. As above, to be made where all threads are.
class WriteKept {
 public:
  __device__ __forceinline__ WriteKept() {
#if KILN_HAS_CP_ASYNC
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(policy_));
#endif
  }
  __device__ __forceinline__ void store(void* address, uint4 value) const {
#if KILN_HAS_CP_ASYNC
    asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;"
                 :
                 : "l"(address), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w), "l"(policy_)
                 : "memory");
#else
    kiln::store(address, value);
#endif
  }

 private:
#if KILN_HAS_CP_ASYNC
  unsigned long long policy_;
#endif
};

/// What streams through the caches. Made as WriteKept is, to take its place.
class WriteOnce {
 public:
  __device__ __forceinline__ void store(void* address, uint4 value) const { store_streaming(address, value); }
};

/// 16 bytes to shared memory from memory that this kernel's other blocks write, through the L2 cache.
__device__ __forceinline__ void copy_through_l2(void* shared, const void* global) {
#if KILN_HAS_CP_ASYNC
  copy_asynchronously(shared, global);
#else
  store(shared, __ldcg(static_cast<const uint4*>(global)));
#endif
}

/// All threads of the block copy `bytes` bytes, whole units, from `source` to shared memory. Returns how far behind
/// `shared` they start: where `source` stands between two 16-byte boundaries, or 0 if it is not aligned to the unit.
/// Nothing outside of [source, source + bytes) is read. Complete after wait_for_copies and a barrier.
template <typename Unit, typename Element, unsigned Threads>
__device__ __forceinline__ unsigned stage_segment(unsigned char* shared, const unsigned char* source, unsigned bytes) {
  if (!is_aligned(source, sizeof(Unit))) {
#pragma unroll 1
    for (unsigned at = threadIdx.x * sizeof(Element); at < bytes; at += Threads * sizeof(Element)) {
      store(shared + at, load_constant<Element>(source + at));
    }
    return 0;
  }
  const unsigned phase = static_cast<unsigned>(reinterpret_cast<unsigned long long>(source) & 15);
  const unsigned until_boundary = (16 - phase) & 15;
  const unsigned head = until_boundary < bytes ? until_boundary : bytes;
  const unsigned vectors = (bytes - head) / 16;
  const unsigned tail = head + vectors * 16;
  unsigned char* to = shared + phase;
  const ReadOnce once;
  for (unsigned vector = threadIdx.x; vector < vectors; vector += Threads) {
    once.copy(to + head + vector * 16, source + head + vector * 16);
  }
  // What is before the first boundary and behind the last is less than a vector each.
  if (threadIdx.x < 16 / sizeof(Unit)) {
    const unsigned at = threadIdx.x * sizeof(Unit);
    if (at < head) {
      store(to + at, load_constant<Unit>(source + at));
    }
    if (tail + at < bytes) {
      store(to + tail + at, load_constant<Unit>(source + tail + at));
    }
  }
  return phase;
}

/// Keeps the compiler from gathering several vectors of narrow units at once: the registers do not hold that many units
/// beside the offsets, and one vector is enough loads to wait for.
template <typename Unit>
__device__ __forceinline__ void one_vector_at_a_time() {
  if constexpr (sizeof(Unit) < 4) {
    asm volatile("" : : : "memory");
  }
}

/// Counts the blocks that are done with something, for blocks that wait until all are. Starts at 0 and only grows; it
/// may go round.
class Counter {
 public:
  __device__ __forceinline__ explicit Counter(unsigned* count) : count_(count) {}
  /// What this block's threads wrote and read before is done when others see the count.
  __device__ __forceinline__ void arrive() const {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(count_, 1u);
    }
  }
  /// Until `wanted` blocks have arrived, all of which must be running. Needs a barrier after.
  __device__ __forceinline__ void wait(unsigned wanted) const {
    if (threadIdx.x == 0) {
      while (static_cast<int>(*static_cast<volatile unsigned*>(count_) - wanted) < 0) {
        __nanosleep(64);
      }
      __threadfence();
    }
  }

 private:
  unsigned* count_;
};

}  // namespace kiln
