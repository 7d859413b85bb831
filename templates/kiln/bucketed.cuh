// Parts of the permutation in two passes: offsets in registers, rows handed from block to block.
#pragma once

#include "kiln/gather.cuh"
#include "kiln/memory.cuh"

namespace kiln {

/// From here on the value is in a register: the compiler knows no more how it was made, and does not make it again.
template <typename T>
__device__ __forceinline__ void keep_in_register(T& value) {
#ifndef KILN_EMULATION
  if constexpr (sizeof(T) == 8) {
    asm volatile("" : "+l"(value));
  } else {
    asm volatile("" : "+r"(value));
  }
#endif
}

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
  /// The same; but what is made of it is made anew, not kept, in twice as many registers, since it was made before.
  __device__ __forceinline__ Offsets anew() const {
    Offsets result = *this;
#pragma unroll
    for (unsigned& word : result.words_) {
      keep_in_register(word);
    }
    return result;
  }
  __device__ __forceinline__ unsigned operator[](unsigned entry) const {
    return entry % 2 == 0 ? words_[entry / 2] & 0xffffu : words_[entry / 2] >> 16;
  }

 private:
  unsigned words_[(Count + 1) / 2];
};

/// Writes scratch memory: what stays in the L2 cache until another block has read it, or what streams through. To be
/// made where all threads are, as ReadOnce is.
class ScratchWriter {
 public:
  __device__ __forceinline__ explicit ScratchWriter([[maybe_unused]] bool stays) {
#if KILN_HAS_CP_ASYNC
    unsigned long long kept;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(kept));
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy_));
    policy_ = stays ? kept : policy_;
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

/// 16 bytes to shared memory from memory that this kernel's other blocks write, through the L2 cache.
__device__ __forceinline__ void copy_through_l2(void* shared, const void* global) {
#if KILN_HAS_CP_ASYNC
  copy_asynchronously(shared, global);
#else
  store(shared, __ldcg(static_cast<const uint4*>(global)));
#endif
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
