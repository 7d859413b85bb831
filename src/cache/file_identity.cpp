#include "cache/file_identity.hpp"

#include <sys/stat.h>

namespace kiln::cache {

std::optional<FileState> state_of(const std::filesystem::path& file) noexcept {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) {
    return std::nullopt;
  }
  constexpr std::int64_t k_ns = 1'000'000'000;
  return FileState{{static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)},
                   static_cast<std::uint64_t>(status.st_size),
                   status.st_mtim.tv_sec * k_ns + status.st_mtim.tv_nsec};
}

std::filesystem::path beside(const std::filesystem::path& file, const char* suffix) {
  std::filesystem::path path = file;
  path += suffix;
  return path;
}

}  // namespace kiln::cache
