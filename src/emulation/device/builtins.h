// Built-in variables, barriers, and how a kernel reaches the library.
static uint3 threadIdx;
static uint3 blockIdx;
static dim3 blockDim;
static dim3 gridDim;
constexpr int warpSize = 32;

extern "C" {
extern unsigned char __start_kiln_shared[] __attribute__((weak, visibility("hidden")));
extern unsigned char __stop_kiln_shared[] __attribute__((weak, visibility("hidden")));
}

namespace kiln_emulation {

static Hooks hooks;
static uint3 cluster_dim;

alignas(1024) static unsigned char dynamic_shared[k_max_shared_bytes + k_shared_guard_bytes];

/// What a source's dynamic shared array is initialised with, whatever its type: all of them are the same memory.
struct DynamicShared {
  template <typename T>
  operator T&() const {
    return *reinterpret_cast<T*>(dynamic_shared);
  }
};

inline unsigned lane() { return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32; }

[[noreturn]] inline void fail(const char* message, Site site) {
  hooks.fail(hooks.runner, message, site);
  __builtin_unreachable();
}

inline void sync_block(Site site) { hooks.barrier(hooks.runner, Barrier::plain, 0, site); }

}  // namespace kiln_emulation

#define assert(...) \
  ((__VA_ARGS__)    \
       ? (void)0    \
       : ::kiln_emulation::fail("assertion failed: " #__VA_ARGS__, ::kiln_emulation::Site{__FILE__, __LINE__}))

using KilnSite = kiln_emulation::Site;

inline void __syncthreads(KilnSite site = KilnSite::here()) { kiln_emulation::sync_block(site); }
inline int __syncthreads_count(int predicate, KilnSite site = KilnSite::here()) {
  return kiln_emulation::hooks.barrier(kiln_emulation::hooks.runner, kiln_emulation::Barrier::count, predicate, site);
}
inline int __syncthreads_or(int predicate, KilnSite site = KilnSite::here()) {
  return kiln_emulation::hooks.barrier(kiln_emulation::hooks.runner, kiln_emulation::Barrier::any, predicate, site);
}
inline int __syncthreads_and(int predicate, KilnSite site = KilnSite::here()) {
  return kiln_emulation::hooks.barrier(kiln_emulation::hooks.runner, kiln_emulation::Barrier::all, predicate, site);
}

// Threads run one at a time, so that every store is seen at once; the compiler must not keep values back.
inline void __threadfence() { __asm__ volatile("" ::: "memory"); }
inline void __threadfence_block() { __asm__ volatile("" ::: "memory"); }
inline void __threadfence_system() { __asm__ volatile("" ::: "memory"); }

inline void __nanosleep(unsigned) {}
inline void __prof_trigger(int) {}
inline void __trap(KilnSite site = KilnSite::here()) { kiln_emulation::fail("__trap", site); }
inline void __brkpt() {}

// Time is only known to go on.
inline long long clock64() {
  static long long ticks = 0;
  return ++ticks;
}
inline clock_t clock() { return static_cast<clock_t>(clock64()); }

inline dim3 __clusterDim() { return kiln_emulation::cluster_dim; }
inline dim3 __clusterRelativeBlockIdx() {
  const uint3 size = kiln_emulation::cluster_dim;
  return {blockIdx.x % size.x, blockIdx.y % size.y, blockIdx.z % size.z};
}
inline dim3 __clusterIdx() {
  const uint3 size = kiln_emulation::cluster_dim;
  return {blockIdx.x / size.x, blockIdx.y / size.y, blockIdx.z / size.z};
}
inline dim3 __clusterGridDimInClusters() {
  const uint3 size = kiln_emulation::cluster_dim;
  return {gridDim.x / size.x, gridDim.y / size.y, gridDim.z / size.z};
}
inline unsigned __clusterRelativeBlockRank() {
  const uint3 size = kiln_emulation::cluster_dim;
  const dim3 index = __clusterRelativeBlockIdx();
  return index.x + size.x * (index.y + size.y * index.z);
}
inline unsigned __clusterSizeInBlocks() {
  const uint3 size = kiln_emulation::cluster_dim;
  return size.x * size.y * size.z;
}

inline size_t __cvta_generic_to_shared(const void* pointer) {
  return static_cast<size_t>(static_cast<const unsigned char*>(pointer) - kiln_emulation::dynamic_shared);
}
inline void* __cvta_shared_to_generic(size_t offset) { return kiln_emulation::dynamic_shared + offset; }
inline size_t __cvta_generic_to_global(const void* pointer) { return reinterpret_cast<size_t>(pointer); }
