#pragma once

#include <cstdint>
#include <string>

namespace kiln::cli {

/// "512 B", "5.1 KiB", "1.0 GiB".
std::string human_bytes(std::uint64_t bytes);
/// "0.4 ms", "23 ms", "1.7 s".
std::string human_ms(double milliseconds);
/// "1 kernel", "2 kernels".
std::string human_count(std::uint64_t count, const std::string& noun);
/// "2026-11-30" in UTC.
std::string human_date(std::int64_t seconds_since_epoch);

/// Reads "512", "64M", "64MiB", "1G", as KILN_CACHE_MAX_SIZE is read. Throws UsageError.
std::uint64_t parse_bytes(const std::string& text);
/// Reads "30d", "12h", "90s", "15m", "2w" into seconds. Throws UsageError.
std::int64_t parse_duration(const std::string& text);

}  // namespace kiln::cli
