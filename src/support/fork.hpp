#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <mutex>

namespace kiln::support {

namespace detail {
inline std::atomic<std::uint64_t> fork_count{0};
inline std::once_flag fork_watch;
}  // namespace detail

/// How many times this process's memory went through fork() since the first call: a value kept from before a fork is
/// then different, which tells a child that locks, connections and driver handles it inherited are its parent's.
/// Costs an atomic load. Thread-safe.
inline std::uint64_t fork_generation() noexcept {
  std::call_once(detail::fork_watch, [] {
    pthread_atfork(nullptr, nullptr, [] { detail::fork_count.fetch_add(1, std::memory_order_relaxed); });
  });
  return detail::fork_count.load(std::memory_order_relaxed);
}

}  // namespace kiln::support
