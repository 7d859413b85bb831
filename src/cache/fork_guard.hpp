#pragma once

#include <functional>

namespace kiln::cache {

/// Registers the handlers of the process, once.
void watch_forks() noexcept;

/// Brings something that must not be carried into a child process over a `fork`: `before` is called in the parent
/// before, `after` in both processes afterwards. A SQLite connection in particular must not: the child would believe in
/// locks that only the parent has. `before` takes the owner's lock and closes, `after` releases the lock.
///
/// Thread-safe.
class ForkGuard {
 public:
  ForkGuard(std::function<void()> before, std::function<void()> after);
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  void before() const { before_(); }
  void after() const { after_(); }

 private:
  std::function<void()> before_;
  std::function<void()> after_;
};

}  // namespace kiln::cache
