#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

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

  Connection(std::filesystem::path file, bool is_snapshot);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Notes the files beside the database that the connection uses, once it has been used and they are there.
  void note_companions() noexcept;
  /// False once another file, or none, stands where the connection opened one, the log and its shared memory
  /// included: what is written through it is lost.
  bool is_current() const noexcept;
  /// The database was emptied under the connection.
  bool is_cut_off() const noexcept;

  /// Its owner closes it before any fork, with a ForkGuard. All others are given up in the child.
  void keep_from_forks() noexcept { store_->database().keep_from_forks(); }

  /// In the child of a fork that does not have the thread that opened it. False when it cannot be given up.
  bool abandon() noexcept;

  Store& store() noexcept { return *store_; }
  bool is_snapshot() const noexcept { return is_snapshot_; }
  const FileIdentity& identity() const noexcept { return identity_; }

 private:
  std::filesystem::path file_;
  FileIdentity identity_;
  bool is_snapshot_;
  bool is_noted_ = false;
  std::array<std::optional<FileIdentity>, 2> companions_;  ///< the log and its shared memory
  std::unique_ptr<Store> store_;
};

/// Before a fork, when the ForkGuards have closed what is theirs: waits until no thread is inside SQLite, and keeps all
/// out.
void hold_connections() noexcept;
/// After it. In the child, the connections of threads that it does not have are given up when it opens its first.
void release_connections(bool in_child) noexcept;

}  // namespace kiln::cache
