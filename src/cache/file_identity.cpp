#include "cache/file_identity.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <limits>

namespace kiln::cache {

std::optional<FileState> state_of(const std::filesystem::path& file) noexcept {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) {
    return std::nullopt;
  }
  constexpr std::int64_t k_ns = 1'000'000'000;
  constexpr std::int64_t k_last_second = std::numeric_limits<std::int64_t>::max() / k_ns - 1;  // in the year 2262
  const std::int64_t seconds = std::clamp<std::int64_t>(status.st_mtim.tv_sec, -k_last_second, k_last_second);
  return FileState{{static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)},
                   static_cast<std::uint64_t>(status.st_size),
                   seconds * k_ns + status.st_mtim.tv_nsec};
}

std::filesystem::path beside(const std::filesystem::path& file, const char* suffix) {
  std::filesystem::path path = file;
  path += suffix;
  return path;
}

}  // namespace kiln::cache
