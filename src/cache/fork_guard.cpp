#include "cache/fork_guard.hpp"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "cache/connection.hpp"

namespace kiln::cache {

namespace {

struct Guards {
  std::mutex mutex;
  std::vector<const ForkGuard*> all;
};

// pthread_atfork passes no argument, so its handlers can only find the guards through the process. Never destroyed: a
// fork may come after the end of main.
Guards& guards() {
  static auto* const all = new Guards;
  return *all;
}

void before_fork() {
  guards().mutex.lock();
  for (const ForkGuard* guard : guards().all) {
    guard->before();
  }
  hold_connections();
}

void after_fork(bool in_child) {
  release_connections(in_child);
  for (const ForkGuard* guard : guards().all) {
    guard->after();
  }
  guards().mutex.unlock();
}

}  // namespace

void watch_forks() noexcept {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(before_fork, [] { after_fork(false); }, [] { after_fork(true); }); });
}

ForkGuard::ForkGuard(std::function<void()> before, std::function<void()> after)
    : before_(std::move(before)), after_(std::move(after)) {
  watch_forks();
  std::lock_guard lock(guards().mutex);
  guards().all.push_back(this);
}

ForkGuard::~ForkGuard() {
  std::lock_guard lock(guards().mutex);
  std::erase(guards().all, this);
}

}  // namespace kiln::cache
