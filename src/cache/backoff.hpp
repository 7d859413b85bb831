#pragma once

#include <algorithm>
#include <chrono>

namespace kiln::cache {

/// How long to leave alone what someone else held for too long: 250 ms, twice as long each time it happens again, 5 s
/// at most. A success starts over.
class Backoff {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds k_first{250};
  static constexpr std::chrono::milliseconds k_longest{5000};

  bool over(Clock::time_point now) const noexcept { return now >= until_; }

  /// It was held for too long, and not had since.
  bool failing() const noexcept { return next_ != k_first; }

  /// It was held for too long. Gives how long it is left alone from `now` on.
  std::chrono::milliseconds extend(Clock::time_point now) noexcept {
    const auto wait = next_;
    until_ = now + wait;
    next_ = std::min(2 * wait, k_longest);
    return wait;
  }
  void reset() noexcept {
    next_ = k_first;
    until_ = {};
  }

 private:
  std::chrono::milliseconds next_ = k_first;
  Clock::time_point until_;
};

}  // namespace kiln::cache
