#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace kiln::cache {

/// Which file a path leads to, and in what state: another file under the same name has another identity.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

struct FileState {
  FileIdentity identity;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;

  friend bool operator==(const FileState&, const FileState&) = default;
};

/// One stat. Absent when there is no such file, or it cannot be looked at.
std::optional<FileState> state_of(const std::filesystem::path& file) noexcept;

/// What SQLite appends to a database's name for the files that it keeps beside it.
inline constexpr std::array<const char*, 3> k_beside_database{"-wal", "-shm", "-journal"};

/// `file` with something appended to its name: one of those, and the like.
std::filesystem::path beside(const std::filesystem::path& file, const char* suffix);

}  // namespace kiln::cache
