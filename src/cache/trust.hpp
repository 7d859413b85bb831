#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace kiln::cache {

// A cubin is code, so nobody else may write what it is read from. The group of a file may, if it is the private group
// of the caller (cache/private_group.hpp) and no access control list names others.

/// Who may own the files.
enum class Owner {
  caller,          ///< the user cache
  root_or_caller,  ///< packs
};

/// Whether a path may be used. A value; nothing here throws.
struct Trust {
  enum class Verdict {
    trusted,
    absent,   ///< nothing is there, and the existing parents are trusted
    refused,  ///< someone else owns it or may change it
    failed,   ///< it could not be looked at or made: no permission, not a directory, I/O error, full disk
  };
  Verdict verdict = Verdict::failed;
  std::string reason;          ///< unless trusted: the path, its mode and owner or the error, and the remedy
  std::filesystem::path path;  ///< when trusted: without symbolic links; open this one, not the path asked about

  bool trusted() const noexcept { return verdict == Verdict::trusted; }
};

/// Is `directory` owned as asked and writable by its owner only, and can nobody but root and the caller change what
/// its path leads to: every parent and every symbolic link on the way is root's or the caller's, and every parent that
/// others may write has the sticky bit? Because no one else can change the path afterwards, opening `Trust::path`
/// later opens what was checked. `uid` is the caller's, from `geteuid()`.
Trust trust_directory(const std::filesystem::path& directory, Owner owner, uid_t uid) noexcept;

/// The same for a database file, the directory it is in, and those of `-wal`, `-shm` and `-journal` beside it that
/// exist. The directory of a pack is a parent like any other: it may have the sticky bit instead.
Trust trust_database(const std::filesystem::path& file, Owner owner, uid_t uid) noexcept;

/// Makes `directory` and the parents it lacks, mode 0700 whatever the umask; then, or if it was there, the verdict of
/// `trust_directory` for the user cache. Nothing is made below a parent that is not trusted.
Trust make_directory(const std::filesystem::path& directory, uid_t uid) noexcept;

/// Makes an empty `file`, mode 0600 whatever the umask, in a directory that `make_directory` made or found; then, or if
/// it was there, the verdict of `trust_database` for the user cache. SQLite gives `-wal`, `-shm` and `-journal` the
/// mode of the database file.
Trust make_database(const std::filesystem::path& file, uid_t uid) noexcept;

}  // namespace kiln::cache
