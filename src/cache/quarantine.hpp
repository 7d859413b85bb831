#pragma once

#include <chrono>
#include <filesystem>

#include "cache/file_identity.hpp"

namespace kiln::cache {

/// Held by whoever makes a database or moves one aside, so that two processes never do it to each other's. A lock on
/// the directory itself: released by the kernel if its holder dies, and no file is left behind. Where directories
/// cannot be locked it holds nothing, and SQLite's own locks have to do.
class DirectoryLock {
 public:
  /// Waits at most `wait`.
  DirectoryLock(const std::filesystem::path& directory, std::chrono::milliseconds wait) noexcept;
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  bool held() const noexcept { return held_; }

 private:
  int descriptor_ = -1;
  bool held_ = false;
};

/// How many damaged databases are kept to be looked at. The oldest is overwritten.
inline constexpr int k_kept_databases = 2;
/// Where they are kept: `NAME.corrupt-1` and so on, up to k_kept_databases.
std::filesystem::path place_aside(const std::filesystem::path& file, int number);

/// Renames a damaged database and its -wal, -shm and -journal to a `place_aside`. Does nothing unless `file` is still
/// the file `identity`: another process may have replaced it already. False when it could not be moved. Under a
/// DirectoryLock.
bool move_aside(const std::filesystem::path& file, const FileIdentity& identity) noexcept;

}  // namespace kiln::cache
