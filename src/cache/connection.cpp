#include "cache/connection.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "cache/fork_guard.hpp"
#include "cache/sqlite_gate.hpp"

namespace kiln::cache {

namespace {

struct KeptSnapshot {
  FileIdentity file;
  std::unique_ptr<Store> store;
};

/// A connection that takes locks.
struct Locked {
  FileIdentity file;
  Connection* connection;
  std::thread::id thread;
  bool is_inherited = false;  ///< by this process from its parent
  bool is_own = false;        ///< and of the thread that forked
};

/// What this process holds locks on, and the snapshots that may not be closed yet.
struct Account {
  std::mutex mutex;
  std::vector<Locked> locked;
  std::vector<KeptSnapshot> kept;
  std::vector<FileIdentity> tainted;  ///< in use when this process was forked, and not given up: never to be locked

  bool is_locked(const FileIdentity& file) const {
    return std::ranges::any_of(locked, [&](const Locked& one) { return !one.is_inherited && one.file == file; });
  }
};

// Locks belong to the process, and so does the account of them. Never destroyed: a service may live until the very end.
Account& account() {
  static auto* const all = new Account;
  return *all;
}

/// SQLite keeps account of locks too, in memory that a child inherits: it believes in locks that only the parent has,
/// as long as the connections are open.
void give_up_inherited() {
  std::erase_if(account().locked, [](const Locked& theirs) {
    if (theirs.is_inherited && (theirs.is_own || !theirs.connection->abandon())) {
      account().tainted.push_back(theirs.file);
    }
    return theirs.is_inherited;
  });
}

/// Throws SqliteError when this child must not lock the file.
void enter(Connection& connection) {
  std::lock_guard lock(account().mutex);
  give_up_inherited();
  if (std::ranges::find(account().tainted, connection.identity()) != account().tainted.end()) {
    throw SqliteError(SqliteFault::input_output, 0,
                      "was being written or listed when this process was forked, and is left out here: fork at another "
                      "time, or start the child with exec");
  }
  account().locked.push_back({connection.identity(), &connection, std::this_thread::get_id()});
}

void leave(const Connection& connection) noexcept {
  std::lock_guard lock(account().mutex);
  std::erase_if(account().locked, [&](const Locked& one) { return one.connection == &connection; });
  const FileIdentity& file = connection.identity();
  if (!account().is_locked(file)) {
    std::erase_if(account().kept, [&file](const KeptSnapshot& snapshot) { return snapshot.file == file; });
  }
}

void close_snapshot(const FileIdentity& file, std::unique_ptr<Store> store) noexcept {
  std::lock_guard lock(account().mutex);
  if (account().is_locked(file)) {
    Store* const open = store.release();
    try {
      account().kept.push_back({file, nullptr});
      account().kept.back().store.reset(open);
    } catch (const std::bad_alloc&) {
      // Open for good: to close it would be to lose the other connection's locks.
    }
  }
  // Else closed here, under the lock: no connection can take its first lock meanwhile.
  store.reset();
}

std::optional<FileIdentity> identity_of(const std::filesystem::path& file) noexcept {
  std::optional<FileState> state = state_of(file);
  return state ? std::optional(state->identity) : std::nullopt;
}

constexpr std::array k_companions{"-wal", "-shm"};
/// Of the smallest database.
constexpr std::uint64_t k_smallest_page = 512;

}  // namespace

std::unique_ptr<Connection> Connection::locked(const std::filesystem::path& file, Database::Access access,
                                               std::chrono::milliseconds busy_wait) {
  auto connection = std::make_unique<Connection>(file, false);
  connection->store_ = std::make_unique<Store>(Database::open(file, access, busy_wait));
  return connection;
}

std::unique_ptr<Connection> Connection::snapshot(const std::filesystem::path& file) {
  auto connection = std::make_unique<Connection>(file, true);
  connection->store_ =
      std::make_unique<Store>(Database::open(file, Database::Access::immutable, std::chrono::milliseconds(0)));
  return connection;
}

Connection::Connection(std::filesystem::path file, bool is_snapshot)
    : file_(std::move(file)), identity_(identity_of(file_).value_or(FileIdentity{})), is_snapshot_(is_snapshot) {
  watch_forks();
  if (!is_snapshot_) {
    enter(*this);
  }
}

Connection::~Connection() {
  if (is_snapshot_) {
    close_snapshot(identity_, std::move(store_));
  } else {
    if (store_ != nullptr && is_noted_ && !is_current()) {
      store_->database().leave_log();
    }
    {
      SqlitePassage passage;  // a fork finds it open or closed
      store_.reset();
    }
    leave(*this);
  }
}

bool Connection::abandon() noexcept { return store_ == nullptr || store_->database().abandon(); }

void Connection::note_companions() noexcept try {
  for (std::size_t i = 0; i < k_companions.size(); ++i) {
    companions_[i] = identity_of(beside(file_, k_companions[i]));
  }
  is_noted_ = true;
} catch (const std::exception&) {
  is_noted_ = false;  // short of memory: only the database itself is watched
}

bool Connection::is_current() const noexcept try {
  if (identity_of(file_) != identity_ || is_cut_off()) {
    return false;
  }
  for (std::size_t i = 0; is_noted_ && i < k_companions.size(); ++i) {
    if (companions_[i] && identity_of(beside(file_, k_companions[i])) != companions_[i]) {
      return false;
    }
  }
  return true;
} catch (const std::exception&) {
  return false;
}

bool Connection::is_cut_off() const noexcept {
  std::optional<FileState> now = state_of(file_);
  return is_noted_ && now && now->identity == identity_ && now->size < k_smallest_page;
}

void hold_connections() noexcept {
  account().mutex.lock();
  shut_sqlite_gate();
}

void release_connections(bool in_child) noexcept {
  if (in_child) {
    for (Locked& one : account().locked) {
      one.is_own = one.thread == std::this_thread::get_id();
      one.is_inherited = true;
    }
  }
  open_sqlite_gate(in_child);
  account().mutex.unlock();
}

}  // namespace kiln::cache
