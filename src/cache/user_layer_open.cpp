// How the user database is opened, and what follows when it cannot be used.

#include <unistd.h>

#include "cache/filesystem.hpp"
#include "cache/quarantine.hpp"
#include "cache/trust.hpp"
#include "cache/user_database.hpp"
#include "cache/user_layer.hpp"

namespace kiln::cache {

namespace {

// The log is given back to the file system beyond this; a commit need not reach the disk before it returns, since a
// lost row is compiled again; what is dropped need not be overwritten.
constexpr char k_prepare_writing[] =
    "PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304; PRAGMA secure_delete = OFF";
constexpr char k_journal_mode[] = "PRAGMA journal_mode";
constexpr char k_leave_wal[] = "PRAGMA journal_mode = DELETE";

bool has_log(const std::filesystem::path& file) {
  std::optional<FileState> log = state_of(beside(file, "-wal"));
  return log && log->size > 0;
}

}  // namespace

void UserLayer::close() noexcept { connection_.reset(); }

void UserLayer::degrade(const std::string& why, std::chrono::milliseconds left_out) {
  close();
  ++counters_.degraded;
  health_.degrade("cache " + file_.string() + ": " + why, Health::Clock::now(), left_out);
}

bool UserLayer::was_replaced() const noexcept { return !connection_->is_current(); }

/// What follows from an error. True: it is worth another try.
bool UserLayer::recover(const SqliteError& error, Need need, bool was_open) {
  if (connection_ != nullptr && connection_->is_snapshot()) {
    // The file may have been written while it was read. Only a connection with locks can tell.
    close();
    glance_ = false;
    return true;
  }
  if (connection_ != nullptr && was_replaced()) {
    close();
    return true;
  }
  if (error.fault() == SqliteFault::content && connection_ != nullptr && !read_only_) {
    set_aside(error.what());
    return true;
  }
  if (error.fault() == SqliteFault::busy) {
    held(error, need, was_open);
  } else {
    degrade(error.what());
  }
  return false;
}

/// Someone else held the database for longer than the busy wait. That passes: nobody waits for it again for a moment.
/// A writer seldom keeps others from reading.
void UserLayer::held(const SqliteError& error, Need need, bool was_open) {
  const auto now = Backoff::Clock::now();
  if (was_open && writes(need)) {
    write_backoff_.extend(now);
    health_.note_once("cache " + file_.string() + ": not written within " + std::to_string(busy_wait_.count()) +
                          " ms: " + error.what(),
                      "; what is compiled meanwhile may not be kept");
  } else {
    degrade(error.what(), read_backoff_.extend(now));
  }
}

/// `busy_wait` for all that an operation does. Whoever waited that long in vain only looks whether it is over.
std::chrono::milliseconds UserLayer::patience(Need need) const noexcept {
  const bool failing = read_backoff_.failing() || (writes(need) && write_backoff_.failing());
  return failing ? std::min(busy_wait_, Backoff::k_first) : busy_wait_;
}

void UserLayer::succeeded(Need need) noexcept {
  if (!connection_->is_snapshot()) {
    read_backoff_.reset();
  }
  if (writes(need)) {
    write_backoff_.reset();
  }
}

/// Moves the open database out of the way, since it cannot be used.
void UserLayer::set_aside(const std::string& why) {
  FileIdentity identity = connection_->identity();
  close();
  touched_.clear();
  ++counters_.corrupt_dropped;
  DirectoryLock lock(directory_, busy_wait_);
  if (move_aside(file_, identity)) {
    health_.note("cache " + file_.string() + ": " + why + "; it was moved aside and a new one is made");
  } else {
    degrade(why + ", and it cannot be moved aside; check the permissions of " + directory_.string());
  }
}

Store* UserLayer::open(Need need) {
  const auto now = Health::Clock::now();
  if (!health_.usable(now) || (writes(need) && (read_only_ || !write_backoff_.over(now)))) {
    return nullptr;
  }
  if (connection_ != nullptr) {
    bool close_enough = need == Need::glance || !connection_->is_snapshot() || read_only_;
    if (close_enough && (need == Need::glance || !was_replaced())) {
      return &connection_->store();
    }
    if (!read_only_ && connection_->is_cut_off()) {
      set_aside("was emptied by someone else");
    }
    close();
  }
  Trust trust = trust_database(file_, Owner::caller, ::geteuid());
  if (trust.verdict == Trust::Verdict::absent && need == Need::write) {
    trust = make_directory(directory_, ::geteuid());
    if (trust.trusted()) {
      trust = make_database(file_, ::geteuid());
    }
  }
  if (trust.verdict == Trust::Verdict::absent) {
    return nullptr;
  }
  if (!trust.trusted()) {
    degrade(trust.reason);
    return nullptr;
  }
  Store* store = open_trusted(trust.path, need);
  if (store != nullptr) {
    opened(now);
  }
  return store;
}

Store* UserLayer::open_trusted(const std::filesystem::path& file, Need need) {
  if (need == Need::glance && glance_ && !has_log(file) && open_snapshot(file)) {
    return &connection_->store();
  }
  if (!health_.usable(Health::Clock::now())) {
    return nullptr;
  }
  if (read_only_) {
    return open_read_only(file);
  }
  try {
    return open_locked(file, need);
  } catch (const SqliteError& error) {
    if (writes(need) || error.fault() != SqliteFault::input_output) {
      throw;
    }
    // Where no file can be made beside it, SQLite cannot lock it: the main file has to do.
    close();
    if (!open_snapshot(file)) {
      throw;
    }
    return &connection_->store();
  }
}

/// True when the main file alone can be looked into.
bool UserLayer::open_snapshot(const std::filesystem::path& file) {
  connection_ = Connection::snapshot(file);
  connection_->keep_from_forks();
  FileHeader header = header_of_file(connection_->store().database());
  if (header.kind == FileHeader::Kind::ours) {
    health_.recovered();
    return true;
  }
  close();
  // A read-only cache is looked at in no other way. Where somebody is writing, it may look unsound for a moment.
  const bool is_last_look = read_only_ && header.kind != FileHeader::Kind::empty && !state_of(beside(file, "-journal"));
  if (header.kind == FileHeader::Kind::newer || is_last_look) {
    degrade(header.trouble);
  }
  return false;
}

/// Makes no file and changes none. A log is read where its shared memory is there already; otherwise the main file has
/// to do.
Store* UserLayer::open_read_only(const std::filesystem::path& file) {
  if (has_live_log(file)) {
    connection_ = Connection::locked(file, Database::Access::read_only, busy_wait_);
    connection_->keep_from_forks();
    FileHeader header = header_of(connection_->store().database());
    if (header.kind != FileHeader::Kind::ours) {
      degrade(header.kind == FileHeader::Kind::empty ? "has no tables yet" : header.trouble);
      return nullptr;
    }
    connection_->note_companions();
    health_.recovered();
    return &connection_->store();
  }
  if (!open_snapshot(file)) {
    return nullptr;
  }
  return &connection_->store();
}

/// Nobody else makes tables meanwhile. So if the empty file cannot be locked, a process has it open that knew it with
/// tables, before someone emptied it, and will for as long as it lives.
void UserLayer::make_tables(Database& database) {
  DirectoryLock lock(directory_, busy_wait_);
  try {
    create_user_schema(database, file_system_of(directory_).journal);
  } catch (const SqliteError& error) {
    if (error.fault() == SqliteFault::busy && lock.held()) {
      throw SqliteError(SqliteFault::content, error.code(), "was emptied by someone else");
    }
    throw;
  }
}

Store* UserLayer::open_locked(const std::filesystem::path& file, Need need) {
  connection_ = Connection::locked(file, Database::Access::read_write, busy_wait_);
  connection_->keep_from_forks();
  Database& database = connection_->store().database();
  FileHeader header = header_of(database);
  switch (header.kind) {
    case FileHeader::Kind::ours:
      break;
    case FileHeader::Kind::newer:
      degrade(header.trouble);
      return nullptr;
    case FileHeader::Kind::empty:
      if (need != Need::write) {
        close();
        return nullptr;
      }
      make_tables(database);
      break;
    case FileHeader::Kind::foreign:
    case FileHeader::Kind::truncated:
    case FileHeader::Kind::older:
      throw SqliteError(SqliteFault::content, 0, header.trouble);
  }
  // A cache that was made on a local disk may have moved to a network file system.
  if (database.text(k_journal_mode) == "wal" && file_system_of(directory_).journal == JournalMode::rollback) {
    database.text(k_leave_wal);
  }
  database.execute(k_prepare_writing);
  connection_->note_companions();
  health_.recovered();
  return &connection_->store();
}

}  // namespace kiln::cache
