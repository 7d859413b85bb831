#include "cache/connection.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <vector>

namespace kiln::cache {

namespace {

struct KeptSnapshot {
  FileIdentity file;
  std::unique_ptr<Store> store;
};

/// The files this process holds locks on, one entry a connection, and the snapshots that may not be closed yet.
struct Account {
  std::mutex mutex;
  std::vector<FileIdentity> locked;
  std::vector<KeptSnapshot> kept;

  bool is_locked(const FileIdentity& file) const { return std::ranges::find(locked, file) != locked.end(); }
};

// Locks belong to the process, and so does the account of them. Never destroyed: a service may live until the very end.
Account& account() {
  static Account* const all = new Account;
  return *all;
}

void enter(const FileIdentity& file) {
  std::lock_guard lock(account().mutex);
  account().locked.push_back(file);
}

void leave(const FileIdentity& file) noexcept {
  std::lock_guard lock(account().mutex);
  auto& locked = account().locked;
  auto found = std::ranges::find(locked, file);
  if (found != locked.end()) {
    locked.erase(found);
  }
  if (!account().is_locked(file)) {
    std::erase_if(account().kept, [&file](const KeptSnapshot& snapshot) { return snapshot.file == file; });
  }
}

void close_snapshot(const FileIdentity& file, std::unique_ptr<Store> store) {
  std::lock_guard lock(account().mutex);
  if (account().is_locked(file)) {
    account().kept.push_back({file, std::move(store)});
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
  if (!is_snapshot_) {
    enter(identity_);
  }
}

Connection::~Connection() {
  if (is_snapshot_) {
    close_snapshot(identity_, std::move(store_));
  } else {
    if (store_ != nullptr && is_noted_ && !is_current()) {
      store_->database().leave_log();
    }
    store_.reset();
    leave(identity_);
  }
}

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

}  // namespace kiln::cache
