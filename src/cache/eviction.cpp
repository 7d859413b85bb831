#include "cache/eviction.hpp"

namespace kiln::cache {

std::uint64_t eviction_goal(std::uint64_t max_bytes) noexcept {
  return max_bytes - max_bytes / 5;  // 80 %, in integers: a double would lose bytes of a cap above 2^53
}

bool evict_more(std::uint64_t left, std::uint64_t max_bytes, std::size_t evicted) noexcept {
  return max_bytes > 0 && (left > max_bytes || (left > eviction_goal(max_bytes) && evicted < k_eviction_batch));
}

bool should_touch(std::int64_t last_used, std::int64_t now) noexcept {
  // Any two times may come from a damaged row: the difference is taken without sign, where it cannot overflow.
  const auto later = static_cast<std::uint64_t>(now > last_used ? now : last_used);
  const auto earlier = static_cast<std::uint64_t>(now > last_used ? last_used : now);
  return later - earlier >= static_cast<std::uint64_t>(k_touch_interval);
}

bool evictions_outnumber_hits(std::uint64_t evicted, std::uint64_t hits) noexcept { return evicted > hits; }

}  // namespace kiln::cache
