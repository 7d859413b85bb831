#pragma once

#include <chrono>
#include <filesystem>
#include <memory>

#include "cache/file_identity.hpp"
#include "cache/store.hpp"

namespace kiln::cache {

/// An open database file.
///
/// POSIX drops every lock that a process has on a file as soon as the process closes any descriptor of it. So a
/// snapshot, which SQLite opens without locks, is closed only when no connection of this process holds locks on the
/// same file; until then it is kept. This class keeps the account, for the whole process.
class Connection {
 public:
  /// With locks. Throws SqliteError.
  static std::unique_ptr<Connection> locked(const std::filesystem::path& file, Database::Access access,
                                            std::chrono::milliseconds busy_wait);
  /// Without locks or log: reads the main file as it is. Whatever is read must be verified, and what is not found may
  /// still be there. Throws SqliteError.
  static std::unique_ptr<Connection> snapshot(const std::filesystem::path& file);

  Connection(FileIdentity identity, bool is_snapshot);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Store& store() noexcept { return *store_; }
  bool is_snapshot() const noexcept { return is_snapshot_; }
  const FileIdentity& identity() const noexcept { return identity_; }

 private:
  FileIdentity identity_;
  bool is_snapshot_;
  std::unique_ptr<Store> store_;
};

}  // namespace kiln::cache
