#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>

#include "cache/fork_guard.hpp"
#include "kiln/stats.hpp"

namespace kiln::cache {

/// Brings what one process counts into the totals of the cache: now and then, and at the end. Thread-safe; waits for
/// no other thread, and for other processes a few milliseconds at most.
class Tally {
 public:
  /// How often it is written while requests come in.
  static constexpr std::chrono::seconds k_interval{10};

  /// `counted` gives what was counted since it was made; it only grows, and is called from any thread. In a read-only
  /// cache nothing is written.
  Tally(const std::filesystem::path& directory, bool read_only, std::function<Totals()> counted,
        std::chrono::milliseconds interval = k_interval);
  ~Tally();
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;

  void write_if_due() noexcept;
  void write() noexcept;
  /// Of all processes, with what is not written yet.
  Totals totals();

 private:
  using Clock = std::chrono::steady_clock;

  void before_fork();
  void after_fork() noexcept;
  void write_locked();
  std::filesystem::path trusted_file() const;

  const std::filesystem::path database_;
  const bool read_only_;
  const std::function<Totals()> counted_;
  const std::chrono::milliseconds interval_;
  std::atomic<Clock::rep> due_;

  std::mutex mutex_;
  Totals written_;  ///< of what was counted
  Totals at_fork_;
  pid_t process_;
  ForkGuard fork_guard_;
};

}  // namespace kiln::cache
