#include "cache/eviction.hpp"

namespace kiln::cache {

std::uint64_t eviction_goal(std::uint64_t max_bytes) noexcept {
  return max_bytes - max_bytes / 5;  // 80 %, in integers: a double would lose bytes of a cap above 2^53
}

std::vector<std::int64_t> choose_evictions(std::uint64_t total_bytes, std::uint64_t max_bytes,
                                           std::span<const EvictionCandidate> candidates) {
  std::vector<std::int64_t> ids;
  if (max_bytes == 0 || total_bytes <= max_bytes) {
    return ids;
  }
  const std::uint64_t excess = total_bytes - eviction_goal(max_bytes);
  std::uint64_t freed = 0;
  for (const auto& candidate : candidates) {
    if (freed >= excess) {
      break;
    }
    ids.push_back(candidate.id);
    freed += candidate.bytes < excess - freed ? candidate.bytes : excess - freed;
  }
  return ids;
}

bool should_touch(std::int64_t last_used, std::int64_t now) noexcept {
  // Any two times may come from a damaged row: the difference is taken without sign, where it cannot overflow.
  const auto later = static_cast<std::uint64_t>(now > last_used ? now : last_used);
  const auto earlier = static_cast<std::uint64_t>(now > last_used ? last_used : now);
  return later - earlier >= static_cast<std::uint64_t>(k_touch_interval);
}

bool evictions_outnumber_hits(std::uint64_t evicted, std::uint64_t hits) noexcept { return evicted > hits; }

}  // namespace kiln::cache
