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
    std::lock_guard door(door_);
    std::lock_guard lock(mutex_);
    ++inside_;
  }
  void leave() {
    std::lock_guard lock(mutex_);
    if (--inside_ == 0) {
      empty_.notify_all();
    }
  }

  /// Keeps all others out until `open`, and waits until nobody is inside, at most so long. False when the time was up
  /// first. For the thread that forks, which must not be inside. Who is inside must not enter again, nor wait for
  /// somebody who has yet to.
  bool shut(std::chrono::milliseconds most) {
    door_.lock();
    std::unique_lock lock(mutex_);
    bool empty = empty_.wait_for(lock, most, [this] { return inside_ == 0; });
    lock.release();
    return empty;
  }
  /// In the thread that shut it, and in the child too: nobody is inside there.
  void open(bool in_child) {
    inside_ = in_child ? 0 : inside_;
    mutex_.unlock();
    door_.unlock();
  }

 private:
  std::mutex door_;   // held from the moment that somebody wants it shut: else those who come and go could keep it open
  std::mutex mutex_;  // guards the number; held while it is shut
  std::condition_variable empty_;
  int inside_ = 0;
};

}  // namespace kiln::support
