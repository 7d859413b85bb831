#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// Which rows leave a full cache. Pure functions of values; times are seconds since the epoch.
namespace kiln::cache {

/// `last_used` is exact to this much: a row is written at most once in this time because of hits.
inline constexpr std::int64_t k_touch_interval = 24 * 60 * 60;

struct EvictionCandidate {
  std::int64_t id = 0;      ///< the row
  std::uint64_t bytes = 0;  ///< what the cache shrinks by without it
  std::int64_t last_used = 0;
};

/// The bytes that a cache above `max_bytes` is brought down to: 80 % of it, so that puts at the cap evict rarely.
std::uint64_t eviction_goal(std::uint64_t max_bytes) noexcept;

/// The ids of those that have to go, a prefix of `candidates`, which are in least-recently-used order: none while
/// `total_bytes` is at most `max_bytes`, or without a cap (0); otherwise as many as bring the total down to the goal,
/// or all, when even they do not suffice.
std::vector<std::int64_t> choose_evictions(std::uint64_t total_bytes, std::uint64_t max_bytes,
                                           std::span<const EvictionCandidate> candidates);

/// Should a hit write `last_used`? Also when that lies more than a day in the future: a clock that was set forward and
/// back again must not keep a row for ever.
bool should_touch(std::int64_t last_used, std::int64_t now) noexcept;

/// More rows were evicted than hit: the cap is too small for what is asked of the cache. Worth a warning.
bool evictions_outnumber_hits(std::uint64_t evicted, std::uint64_t hits) noexcept;

}  // namespace kiln::cache
