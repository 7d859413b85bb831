// The time of day as the cache keeps it.
#pragma once

#include <chrono>
#include <cstdint>

namespace kiln::support {

/// Since 1970 in UTC, without leap seconds.
inline std::int64_t seconds_since_epoch() noexcept {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace kiln::support
