#pragma once

#include <cstddef>
#include <memory>

namespace kiln::emulation {

/// A thread of control with a stack of its own that runs only when it is switched to. Known to the address and thread
/// sanitizers. All fibers that switch to each other belong to one operating-system thread.
class Fiber {
 public:
  using Body = void (*)(void* argument);

  /// The calling thread as it runs now: what fibers switch back to.
  Fiber();
  /// Runs `body(argument)` at the first switch to it; `body` must never return, but switch away for good. Throws
  /// std::bad_alloc when there is no memory for the stack. Destroying it frees the stack without unwinding it.
  Fiber(Body body, void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Leaves `from`, which is running, and goes on with `to`; returns when something switches to `from` again.
  static void switch_from_to(Fiber& from, Fiber& to) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln::emulation
