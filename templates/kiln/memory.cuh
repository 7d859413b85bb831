// Loads and stores by size, with cache hints. Elements are bits: T is unsigned char, short or int, uint2 or uint4.
#pragma once

// Inline assembly is for the GPU alone; elsewhere (before sm_80, under emulation) an asynchronous copy is a plain one.
#if !defined(KILN_EMULATION) && __CUDA_ARCH__ >= 800
#define KILN_HAS_CP_ASYNC 1
#else
#define KILN_HAS_CP_ASYNC 0
#endif

// Threads that a multiprocessor can hold.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 800
#define KILN_RESIDENT_THREADS 1024
#elif __CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100)
#define KILN_RESIDENT_THREADS 2048
#else
#define KILN_RESIDENT_THREADS 1536
#endif

namespace kiln {

/// The unsigned type of that many bytes, or uint2 or uint4.
template <unsigned Bytes>
struct BitsType;
template <>
struct BitsType<1> {
  using Type = unsigned char;
};
template <>
struct BitsType<2> {
  using Type = unsigned short;
};
template <>
struct BitsType<4> {
  using Type = unsigned int;
};
template <>
struct BitsType<8> {
  using Type = uint2;
};
template <>
struct BitsType<16> {
  using Type = uint4;
};

/// From shared or global memory.
template <typename T>
__device__ __forceinline__ T load(const void* address) {
  return *static_cast<const T*>(address);
}
template <typename T>
__device__ __forceinline__ void store(void* address, T value) {
  *static_cast<T*>(address) = value;
}

/// From global memory that nobody writes while the kernel runs.
template <typename T>
__device__ __forceinline__ T load_constant(const void* address) {
  return __ldg(static_cast<const T*>(address));
}

/// To global memory that this kernel does not read again.
template <typename T>
__device__ __forceinline__ void store_streaming(void* address, T value) {
  __stcs(static_cast<T*>(address), value);
}

/// 16 bytes from global to shared memory, both aligned to 16; there after wait_for_copies and a barrier.
__device__ __forceinline__ void copy_asynchronously(void* shared, const void* global) {
#if KILN_HAS_CP_ASYNC
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))), "l"(global)
               : "memory");
#else
  store(shared, load_constant<uint4>(global));
#endif
}
__device__ __forceinline__ void wait_for_copies() {
#if KILN_HAS_CP_ASYNC
  asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

/// Is the address a multiple of `alignment`, a power of two?
__device__ __forceinline__ bool is_aligned(const void* address, unsigned alignment) {
  return (reinterpret_cast<unsigned long long>(address) & (alignment - 1)) == 0;
}

}  // namespace kiln
