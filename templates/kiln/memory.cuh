// Loads and stores by size, with cache hints. Elements are bits: T is unsigned char, short or int, uint2 or uint4.
// Under emulation (KILN_EMULATED) everything is a plain copy, so that the host's aliasing rules hold.
#pragma once

namespace kiln {

#ifdef KILN_EMULATED

template <typename T>
__device__ T load(const void* address) {
  T value;
  __builtin_memcpy(&value, address, sizeof(T));
  return value;
}
template <typename T>
__device__ void store(void* address, T value) {
  __builtin_memcpy(address, &value, sizeof(T));
}
template <typename T>
__device__ T load_constant(const void* address) {
  return load<T>(address);
}
template <typename T>
__device__ void store_streaming(void* address, T value) {
  store(address, value);
}
__device__ inline void copy_asynchronously(void* shared, const void* global) { store(shared, load<uint4>(global)); }
__device__ inline void wait_for_copies() {}

#else

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
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))), "l"(global)
               : "memory");
#else
  store(shared, load_constant<uint4>(global));
#endif
}
__device__ __forceinline__ void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

#endif

/// Is the address a multiple of `alignment`, a power of two?
__device__ __forceinline__ bool is_aligned(const void* address, unsigned alignment) {
  return (reinterpret_cast<unsigned long long>(address) & (alignment - 1)) == 0;
}

}  // namespace kiln
