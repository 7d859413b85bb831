#include "cache/layer.hpp"

#include <algorithm>
#include <chrono>

namespace kiln::cache {

namespace {

std::uint64_t nanoseconds_since(std::chrono::steady_clock::time_point begin) noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count());
}

}  // namespace

void Layer::took(const Stopwatch& since) noexcept {
  const std::uint64_t all = nanoseconds_since(since.begin);
  counters_.hit_ns += all - std::min(all, counters_.opened_ns - since.opened_ns);
}

void Layer::opened(std::chrono::steady_clock::time_point begin) noexcept {
  const std::uint64_t took = nanoseconds_since(begin);
  counters_.open_ns = took;
  counters_.opened_ns += took;
}

void Layer::fill_costs(LayerStats& stats) const noexcept {
  const auto hits = static_cast<double>(counters_.hits);
  stats.open_us = static_cast<double>(counters_.open_ns) / 1000.0;
  stats.hit_us = hits > 0.0 ? static_cast<double>(counters_.hit_ns) / 1000.0 / hits : 0.0;
}

Session::~Session() {
  std::vector<std::string> messages = health_.take_messages();
  lock_.unlock();
  if (log_) {
    for (const std::string& message : messages) {
      log_(LogLevel::warning, message);
    }
  }
}

}  // namespace kiln::cache
