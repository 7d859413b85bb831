#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace kiln::support {

/// A library with locks of its own must not be forked while a thread is inside: in the child they would stay taken for
/// ever. Whoever calls it passes this gate, which is shut for the moment of a fork. Thread-safe.
class ForkGate {
 public:
  void enter() {
    std::lock_guard lock(mutex_);
    ++inside_;
  }
  void leave() {
    std::lock_guard lock(mutex_);
    if (--inside_ == 0) {
      empty_.notify_all();
    }
  }

  /// Waits until nobody is inside, at most so long, and keeps all others out until `open`. False when the time was up
  /// first. For the thread that forks, which must not be inside.
  bool shut(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    bool empty = empty_.wait_for(lock, most, [this] { return inside_ == 0; });
    lock.release();
    return empty;
  }
  /// In the thread that shut it, and in the child too: nobody is inside there.
  void open(bool in_child) {
    inside_ = in_child ? 0 : inside_;
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;  // held while it is shut
  std::condition_variable empty_;
  int inside_ = 0;
};

}  // namespace kiln::support
