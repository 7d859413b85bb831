#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace kiln::cache {

/// How a database on some file system has to be kept.
enum class JournalMode {
  wal,       ///< readers never wait; needs memory shared by all processes that have the database open
  rollback,  ///< `DELETE`: slower, correct wherever byte-range locks are
};

/// What kind of file system a path is on, and what that means for a database there. A plain value.
struct FileSystem {
  enum class Kind { local, network, unknown };
  Kind kind = Kind::unknown;
  std::string name;  ///< "ext4", "nfs"; "0x1234" for one that Kiln does not know
  JournalMode journal = JournalMode::rollback;
  std::string reason;  ///< why that journal mode, one sentence for `doctor`
};

/// From the magic number that statfs gives. Pure.
FileSystem file_system_of_magic(std::uint64_t magic);

/// Of the path, or of its nearest parent that exists. Kind `unknown` with the error as the reason if statfs fails.
/// Does not throw.
FileSystem file_system_of(const std::filesystem::path& path) noexcept;

}  // namespace kiln::cache
