// CUDA's keywords for a host compiler. The text of every source is prepared first (see shared_memory.hpp): what is left
// of `__shared__` is static, and dynamic shared arrays are references made from kiln_emulation::DynamicShared.
#define KILN_EMULATION 1
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __block_size__(...)

#if defined(__SANITIZE_ADDRESS__)
#define KILN_EMULATION_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KILN_EMULATION_ADDRESS_SANITIZER 1
#endif
#endif

// Gathered in one section, shared memory can be filled with garbage when a block starts, as a kernel finds it on a GPU.
// The address sanitizer puts red zones only around variables outside named sections, which is worth more; and g++
// refuses to put variables of templates and others into one section.
#if defined(__clang__) && !defined(KILN_EMULATION_ADDRESS_SANITIZER)
#define __shared__ static __attribute__((section("kiln_shared")))
#else
#define __shared__ static
#endif

using size_t = decltype(sizeof(0));
using ptrdiff_t = decltype(static_cast<char*>(nullptr) - static_cast<char*>(nullptr));
using clock_t = long;
#define NULL nullptr

#ifndef __clang__
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#endif

extern "C" {
int printf(const char* format, ...);
void* memcpy(void* to, const void* from, size_t bytes);
void* memmove(void* to, const void* from, size_t bytes);
void* memset(void* to, int value, size_t bytes);
int memcmp(const void* a, const void* b, size_t bytes);
}
