#pragma once

#include <cstddef>

// Which sanitizer this is built with: g++ and clang say so in different ways.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KILN_ADDRESS_SANITIZER 1
#endif
#if __has_feature(thread_sanitizer)
#define KILN_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(KILN_ADDRESS_SANITIZER)
#define KILN_ADDRESS_SANITIZER 1
#endif
#if defined(__SANITIZE_THREAD__) && !defined(KILN_THREAD_SANITIZER)
#define KILN_THREAD_SANITIZER 1
#endif

#ifdef KILN_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef KILN_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

/// What the sanitizers must be told of fibers and of memory whose use is restricted. Without them, nothing.
namespace kiln::emulation::sanitizers {

#ifdef KILN_ADDRESS_SANITIZER
inline constexpr bool k_address = true;
inline void poison(const void* memory, std::size_t bytes) noexcept { __asan_poison_memory_region(memory, bytes); }
inline void unpoison(const void* memory, std::size_t bytes) noexcept { __asan_unpoison_memory_region(memory, bytes); }
#else
inline constexpr bool k_address = false;
inline void poison(const void* /*memory*/, std::size_t /*bytes*/) noexcept {}
inline void unpoison(const void* /*memory*/, std::size_t /*bytes*/) noexcept {}
#endif

struct FiberState {
  const void* bottom = nullptr;
  std::size_t size = 0;
  void* fake_stack = nullptr;    // address sanitizer's
  void* thread_fiber = nullptr;  // thread sanitizer's
  bool owned = false;
};

inline void adopt_thread([[maybe_unused]] FiberState& state) noexcept {
#ifdef KILN_THREAD_SANITIZER
  state.thread_fiber = __tsan_get_current_fiber();
#endif
}

inline void create(FiberState& state, const void* bottom, std::size_t size) noexcept {
  state.bottom = bottom;
  state.size = size;
  state.owned = true;
#ifdef KILN_THREAD_SANITIZER
  state.thread_fiber = __tsan_create_fiber(0);
#endif
}

inline void destroy([[maybe_unused]] FiberState& state) noexcept {
#ifdef KILN_THREAD_SANITIZER
  if (state.owned) {
    __tsan_destroy_fiber(state.thread_fiber);
  }
#endif
}

inline void before_switch([[maybe_unused]] FiberState& from, [[maybe_unused]] FiberState& to) noexcept {
#ifdef KILN_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&from.fake_stack, to.bottom, to.size);
#endif
#ifdef KILN_THREAD_SANITIZER
  __tsan_switch_to_fiber(to.thread_fiber, 0);
#endif
}

/// The first thing done on the stack of `arrived`; tells where the stack of `left` is, which for a thread's own is not
/// known before.
inline void after_switch([[maybe_unused]] FiberState& arrived, [[maybe_unused]] FiberState& left) noexcept {
#ifdef KILN_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(arrived.fake_stack, &left.bottom, &left.size);
#endif
}

}  // namespace kiln::emulation::sanitizers
