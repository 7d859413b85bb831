#pragma once

#include <cstddef>
#include <cstdint>

/// Which rows leave a full cache. Pure functions of values; times are seconds since the epoch.
namespace kiln::cache {

/// `last_used` is exact to this much: a row is written at most once in this time because of hits.
inline constexpr std::int64_t k_touch_interval = std::int64_t{24} * 60 * 60;

/// As many rows leave at once, unless more have to. Some milliseconds of work.
inline constexpr std::size_t k_eviction_batch = 64;

struct EvictionCandidate {
  std::int64_t id = 0;      ///< the row
  std::uint64_t bytes = 0;  ///< what the cache shrinks by without it
  std::int64_t last_used = 0;
};

/// The bytes that a cache above `max_bytes` is brought down to: 80 % of it, so that puts at the cap evict rarely.
std::uint64_t eviction_goal(std::uint64_t max_bytes) noexcept;

/// Does the next row have to go, where `evicted` went at once and `left` bytes remain? Down to the goal, but only in
/// batches while the cache is within its cap: no request waits for a fifth of a large cache to be dropped. Never
/// without a cap (0).
bool evict_more(std::uint64_t left, std::uint64_t max_bytes, std::size_t evicted) noexcept;

/// Should a hit write `last_used`? Also when that lies more than a day in the future: a clock that was set forward and
/// back again must not keep a row for ever.
bool should_touch(std::int64_t last_used, std::int64_t now) noexcept;

/// More rows were evicted than hit: the cap is too small for what is asked of the cache. Worth a warning.
bool evictions_outnumber_hits(std::uint64_t evicted, std::uint64_t hits) noexcept;

}  // namespace kiln::cache
