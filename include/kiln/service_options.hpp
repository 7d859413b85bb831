#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "kiln/export.h"
#include "kiln/log.hpp"

namespace kiln {

enum class CacheMode {
  read_write,
  read_only,  ///< nothing is opened for writing
  off,        ///< memory only; packs are still read
};

/// How a service behaves. A plain value, read once when the service is made.
struct KILN_EXPORT ServiceOptions {
  /// The user cache's directory. Created (mode 0700) at the first put, never earlier. Absent: memory only, which is
  /// said once through the log unless the mode is `off`.
  std::optional<std::filesystem::path> cache_dir;
  CacheMode cache_mode = CacheMode::read_write;
  /// Cap on the user database, in bytes of file. 0: no cap.
  std::uint64_t max_bytes = std::uint64_t{1} << 30;
  /// Read-only databases made ahead of time, looked in before the user cache, in this order.
  std::vector<std::filesystem::path> packs;
  /// Never compile: what no layer holds is Error{strict_miss}.
  bool strict = false;
  /// The NVRTC library file to use, and no other. Empty: look in the usual places.
  std::filesystem::path nvrtc;
  /// If set, every request made is added to this plan file, for `precompile`.
  std::filesystem::path record;
  /// How long a look-up waits for a busy database before it goes on without.
  std::chrono::milliseconds busy_wait{2000};
  /// How long a request waits at most for another process that compiles the same key. Less when the template's last
  /// compiles were quick: 20 times the longest of them, and 5 s at least.
  std::chrono::milliseconds lease_wait{30000};
  /// Loaded kernels that nobody holds are unloaded beyond this many.
  std::size_t max_loaded = 1024;
  LogCallback log;

  /// The defaults above, changed by KILN_CACHE_DIR, KILN_CACHE_MAX_SIZE, KILN_CACHE_MODE, KILN_PACKS, KILN_STRICT,
  /// KILN_NVRTC, KILN_RECORD; directory: $XDG_CACHE_HOME/kiln, else $HOME/.cache/kiln, else memory only.
  /// Throws Error{invalid_argument} naming a variable whose value cannot be used.
  static ServiceOptions from_environment();
};

/// Bytes from "1073741824", "1G", "512MiB" (powers of 1024); nothing if `text` is not a size or too large. Pure.
KILN_EXPORT std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;

}  // namespace kiln
