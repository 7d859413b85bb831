#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "support/child_process.hpp"

/// The same work by several threads or processes at once.
namespace kiln::bench {

/// One worker's work: called again and again, each call is timed. Made in the thread or process that works.
using Work = std::function<void()>;
using MakeWork = std::function<Work(int worker)>;

/// What was measured of all workers together.
class Workers {
 public:
  void add(double ns) { ns_.push_back(ns); }
  void add(const std::vector<double>& ns, std::chrono::duration<double> duration) {
    ns_.insert(ns_.end(), ns.begin(), ns.end());
    seconds_ = duration.count();
  }
  /// Another run of the same.
  void add(const Workers& more) {
    ns_.insert(ns_.end(), more.ns_.begin(), more.ns_.end());
    seconds_ += more.seconds_;
  }

  std::size_t count() const { return ns_.size(); }
  /// Of single calls, in nanoseconds.
  double quantile(double q) const {
    std::vector<double> sorted = ns_;
    const auto at = static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1));
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(at), sorted.end());
    return sorted[at];
  }
  double mean() const { return std::accumulate(ns_.begin(), ns_.end(), 0.0) / static_cast<double>(ns_.size()); }
  /// Calls of all workers; 0 when they were not timed as a whole.
  double per_second() const { return seconds_ > 0 ? static_cast<double>(ns_.size()) / seconds_ : 0; }

 private:
  std::vector<double> ns_;
  double seconds_ = 0;
};

namespace detail {

using Clock = std::chrono::steady_clock;  // the same in all processes

/// Times calls from `begin` to `end`; what is lazy is paid for before.
inline std::vector<double> time_calls(const Work& work, Clock::time_point begin, Clock::time_point end) {
  work();
  std::this_thread::sleep_until(begin);
  std::vector<double> ns;
  for (auto now = Clock::now(); now < end;) {
    work();
    const auto then = std::exchange(now, Clock::now());
    ns.push_back(std::chrono::duration<double, std::nano>(now - then).count());
  }
  return ns;
}

inline void write_all(int file, const std::vector<double>& ns) {
  const auto* bytes = reinterpret_cast<const char*>(ns.data());
  for (std::size_t left = ns.size() * sizeof(double); left > 0;) {
    const ssize_t written = ::write(file, bytes, left);
    if (written <= 0) {
      ::_exit(1);
    }
    bytes += written;
    left -= static_cast<std::size_t>(written);
  }
}

inline std::vector<double> read_all(int file) {
  std::vector<double> ns;
  std::vector<char> bytes;
  char buffer[65536];
  for (ssize_t size = 0; (size = ::read(file, buffer, sizeof(buffer))) > 0;) {
    bytes.insert(bytes.end(), buffer, buffer + size);
  }
  ns.resize(bytes.size() / sizeof(double));
  std::copy_n(bytes.data(), ns.size() * sizeof(double), reinterpret_cast<char*>(ns.data()));
  return ns;
}

constexpr std::chrono::milliseconds k_to_start{100};

}  // namespace detail

inline Workers run_threads(int count, std::chrono::milliseconds duration, const MakeWork& make) {
  const auto begin = detail::Clock::now() + detail::k_to_start;
  std::vector<std::vector<double>> all(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int worker = 0; worker < count; ++worker) {
    threads.emplace_back([&, worker] {
      all[static_cast<std::size_t>(worker)] = detail::time_calls(make(worker), begin, begin + duration);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  Workers workers;
  for (const auto& ns : all) {
    workers.add(ns, duration);
  }
  return workers;
}

/// Nothing that a child must not inherit may be open: `make` is called in the child.
inline Workers run_processes(int count, std::chrono::milliseconds duration, const MakeWork& make) {
  const auto begin = detail::Clock::now() + detail::k_to_start;
  std::list<test::ChildProcess> children;
  std::vector<int> results;
  for (int worker = 0; worker < count; ++worker) {
    int ends[2];
    if (::pipe(ends) != 0) {
      throw std::runtime_error("cannot make a pipe");
    }
    children.emplace_back([&] {
      Work work = make(worker);
      const auto ns = detail::time_calls(work, begin, begin + duration);
      work = nullptr;  // closes what it has open
      detail::write_all(ends[1], ns);
      return 0;
    });
    ::close(ends[1]);
    results.push_back(ends[0]);
  }
  Workers workers;
  for (const int result : results) {
    workers.add(detail::read_all(result), duration);
    ::close(result);
  }
  for (auto& child : children) {
    if (child.wait() != 0) {
      throw std::runtime_error("a process of the benchmark failed");
    }
  }
  return workers;
}

}  // namespace kiln::bench
