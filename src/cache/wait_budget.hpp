#pragma once

#include <chrono>

namespace kiln::cache {

/// Nobody waits for longer, whatever the options say: so that times can be added.
inline constexpr std::chrono::milliseconds k_longest_wait = std::chrono::hours(24 * 365);

/// How long SQLite may sleep in this thread while this lives; less is left with each sleep. One within another gets no
/// more than the outer one has left. Without any there is no bound.
///
/// SQLite's own bound, the busy timeout, is for a lock that another connection holds, each time anew. Where a lock of a
/// write-ahead log's shared memory fails for another reason, SQLite tries a hundred times, over ten seconds.
class WaitBudget {
 public:
  explicit WaitBudget(std::chrono::microseconds budget) noexcept;
  ~WaitBudget();
  WaitBudget(const WaitBudget&) = delete;
  WaitBudget& operator=(const WaitBudget&) = delete;

  /// How much of `asked` may be slept; it counts as slept.
  static std::chrono::microseconds take(std::chrono::microseconds asked) noexcept;

 private:
  std::chrono::microseconds outer_;
  std::chrono::microseconds own_;
};

}  // namespace kiln::cache
