#include "cache/sqlite.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "cache/sqlite_gate.hpp"
#include "cache/vfs.hpp"
#include "cache/wait_budget.hpp"

namespace kiln::cache {

namespace {

constexpr int k_max_row_bytes = 256 << 20;

struct Limit {
  int id;
  int value;
};

/// Far above what Kiln's own statements need, far below what a hostile schema could use.
constexpr std::array k_limits{
    Limit{SQLITE_LIMIT_LENGTH, k_max_row_bytes},
    Limit{SQLITE_LIMIT_SQL_LENGTH, 64 << 10},
    Limit{SQLITE_LIMIT_COLUMN, 64},
    Limit{SQLITE_LIMIT_EXPR_DEPTH, 64},
    Limit{SQLITE_LIMIT_COMPOUND_SELECT, 4},
    Limit{SQLITE_LIMIT_VDBE_OP, 20000},
    Limit{SQLITE_LIMIT_FUNCTION_ARG, 16},
    Limit{SQLITE_LIMIT_ATTACHED, 0},
    Limit{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 64},
    Limit{SQLITE_LIMIT_VARIABLE_NUMBER, 32},
    Limit{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
    Limit{SQLITE_LIMIT_WORKER_THREADS, 0},
};

/// The functions that Kiln's own statements call. A generated column or an expression index in a hostile schema finds
/// no others.
constexpr std::array<std::string_view, 6> k_functions{"count", "sum", "max", "min", "length", "total"};

int authorize(void*, int action, const char*, const char* function, const char*, const char*) {
  if (action == SQLITE_RECURSIVE || action == SQLITE_ATTACH || action == SQLITE_DETACH) {
    return SQLITE_DENY;
  }
  if (action == SQLITE_FUNCTION) {
    std::string_view name = function == nullptr ? std::string_view() : std::string_view(function);
    return std::find(k_functions.begin(), k_functions.end(), name) == k_functions.end() ? SQLITE_DENY : SQLITE_OK;
  }
  return SQLITE_OK;
}

SqliteFault fault_of(int code) noexcept {
  // SQLite reads zeros behind the end of a database. What it does not forgive is a log shorter than its index says.
  if (code == SQLITE_IOERR_SHORT_READ) {
    return SqliteFault::content;
  }
  switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return SqliteFault::busy;
    // With statements that are constants, these say that the file is not what its header promised.
    case SQLITE_ERROR:
    case SQLITE_AUTH:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    case SQLITE_SCHEMA:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_RANGE:
      return SqliteFault::content;
    default:
      return SqliteFault::input_output;
  }
}

/// What to do about an error of the file system, `reason` if the system gave one. What is wrong with the file's content
/// is its user's to tell.
const char* remedy_of(int code, int reason) noexcept {
  if (reason == EMFILE || reason == ENFILE) {
    return "; close some or raise the limit (ulimit -n)";
  }
  switch (code & 0xFF) {
    case SQLITE_CANTOPEN:
      return ": check that its folder is there, and that this user may read and write both";
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return ": check that this user may write the file and its folder, and that the file system is not read-only";
    case SQLITE_FULL:
      return ": make room on the file system, or use a folder on another";
    case SQLITE_IOERR:
      return ": check the disk and the file system, or use a folder on another";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return ": another process holds it; try again when that has ended";
    default:
      return "";
  }
}

[[noreturn]] void fail(sqlite3* database, int code) {
  std::string message = database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database);
  int extended = database == nullptr ? code : sqlite3_extended_errcode(database);
  if ((extended & 0xFF) != (code & 0xFF)) {
    extended = code;
    message = sqlite3_errstr(code);
  }
  // SQLite's own text says "disk I/O error" of a full disk, a stale handle and a broken one alike.
  int base = code & 0xFF;
  int reason =
      database != nullptr && (base == SQLITE_IOERR || base == SQLITE_CANTOPEN) ? sqlite3_system_errno(database) : 0;
  if (reason != 0) {
    message += ": " + std::generic_category().message(reason);
  }
  throw SqliteError(fault_of(code), extended,
                    message + " (SQLite " + std::to_string(extended) + ")" + remedy_of(code, reason));
}

void check(sqlite3* database, int code) {
  if (code != SQLITE_OK) {
    fail(database, code);
  }
}

/// As a `file:` URI, so that no name is ever taken for one, and the parameters can be given.
std::string uri_of(const std::filesystem::path& file, std::string_view parameters) {
  static constexpr std::string_view k_plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-~";
  static constexpr std::string_view k_digits = "0123456789ABCDEF";
  std::string uri = file.is_absolute() ? "file://" : "file:";  // without an authority, two slashes would begin one
  for (char c : file.native()) {
    if (k_plain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      auto byte = static_cast<unsigned char>(c);
      uri += '%';
      uri += k_digits[byte >> 4];
      uri += k_digits[byte & 0xF];
    }
  }
  uri += parameters;
  return uri;
}

struct Opening {
  int flags;
  std::string_view parameters;
  FileUse use = FileUse::read_write;
};

Opening opening_of(Database::Access access) {
  switch (access) {
    case Database::Access::create:
    case Database::Access::build:
      return {SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, ""};
    case Database::Access::read_write:
      return {SQLITE_OPEN_READWRITE, ""};
    case Database::Access::read_only:
      return {SQLITE_OPEN_READONLY, "?readonly_shm=1", FileUse::read_only};
    case Database::Access::immutable:
      return {SQLITE_OPEN_READONLY, "?immutable=1"};
  }
  return {SQLITE_OPEN_READONLY, ""};
}

void harden(sqlite3* database, Database::Access access) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  if (access == Database::Access::build) {
    return;
  }
  check(database, sqlite3_drop_modules(database, nullptr));
  for (const Limit& limit : k_limits) {
    sqlite3_limit(database, limit.id, limit.value);
  }
  check(database, sqlite3_set_authorizer(database, authorize, nullptr));
}

sqlite3_file* file_of(sqlite3* database) {
  sqlite3_file* file = nullptr;
  check(database, sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file));
  if (file == nullptr || file->pMethods == nullptr) {
    fail(nullptr, SQLITE_CANTOPEN);
  }
  return file;
}

}  // namespace

void DatabaseTraits::close(Type database) noexcept {
  SqlitePassage passage;
  sqlite3_close_v2(database);
}

void StatementTraits::close(Type statement) noexcept {
  SqlitePassage passage;
  sqlite3_finalize(statement);
}

void Statement::check(int code) const { cache::check(sqlite3_db_handle(handle_.get()), code); }

Statement& Statement::bind(int parameter, std::int64_t value) {
  SqlitePassage passage(gated_);
  check(sqlite3_bind_int64(handle_.get(), parameter, value));
  return *this;
}

Statement& Statement::bind(int parameter, double value) {
  SqlitePassage passage(gated_);
  check(sqlite3_bind_double(handle_.get(), parameter, value));
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  SqlitePassage passage(gated_);
  // Never NULL: an empty view may have no address.
  const char* data = text.empty() ? "" : text.data();
  check(sqlite3_bind_text64(handle_.get(), parameter, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(int parameter, std::span<const std::byte> bytes) {
  SqlitePassage passage(gated_);
  const void* data = bytes.empty() ? static_cast<const void*>("") : bytes.data();
  check(sqlite3_bind_blob64(handle_.get(), parameter, data, bytes.size(), SQLITE_STATIC));
  return *this;
}

bool Statement::step() {
  SqlitePassage passage(gated_);
  const WaitBudget budget(wait_);
  int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) {
    return true;
  }
  if (code != SQLITE_DONE) {
    fail(sqlite3_db_handle(handle_.get()), code);
  }
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

void Statement::reset() noexcept {
  SqlitePassage passage(gated_);
  sqlite3_reset(handle_.get());
  sqlite3_clear_bindings(handle_.get());
}

std::int64_t Statement::integer(int column) const noexcept {
  SqlitePassage passage(gated_);
  return sqlite3_column_int64(handle_.get(), column);
}

double Statement::real(int column) const noexcept {
  SqlitePassage passage(gated_);
  return sqlite3_column_double(handle_.get(), column);
}

std::string_view Statement::text(int column) const {
  SqlitePassage passage(gated_);
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return data == nullptr ? std::string_view() : std::string_view(data, size);
}

std::span<const std::byte> Statement::bytes(int column) const {
  SqlitePassage passage(gated_);
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(handle_.get(), column));
  auto size = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return data == nullptr ? std::span<const std::byte>() : std::span(data, size);
}

Database Database::open(const std::filesystem::path& file, Access access, std::chrono::milliseconds busy_wait) {
  SqlitePassage passage;
  Opening opening = opening_of(access);
  support::UniqueHandle<DatabaseTraits> handle;
  int code = sqlite3_open_v2(uri_of(file, opening.parameters).c_str(), handle.out(),
                             opening.flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                             vfs_for(opening.use));
  check(handle.get(), code);
  harden(handle.get(), access);
  Database database(std::move(handle));
  database.set_busy_wait(busy_wait);
  database.execute("PRAGMA cell_size_check = 1");
  return database;
}

void Database::execute(const char* sql) {
  SqlitePassage passage(gated_);
  const WaitBudget budget(wait_);
  check(handle_.get(), sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr));
}

Statement Database::prepare(std::string_view sql) {
  SqlitePassage passage(gated_);
  const WaitBudget budget(wait_);  // the first statement reads the schema
  support::UniqueHandle<StatementTraits> handle;
  check(handle_.get(),
        sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()), 0, handle.out(), nullptr));
  return Statement(std::move(handle), wait_, gated_);
}

Loan Database::use(const char* sql) {
  auto found = std::find_if(prepared_.begin(), prepared_.end(), [sql](const Prepared& p) { return p.sql == sql; });
  if (found == prepared_.end()) {
    prepared_.push_back({sql, std::make_unique<Statement>(prepare(sql))});
    found = std::prev(prepared_.end());
  }
  found->statement->wait_ = wait_;
  return Loan(*found->statement);
}

std::int64_t Database::integer(const char* sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

void Database::roll_back() noexcept {
  SqlitePassage passage(gated_);
  const WaitBudget budget(wait_);
  sqlite3_exec(handle_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

std::string Database::text(const char* sql) {
  Statement statement = prepare(sql);
  return statement.step() ? std::string(statement.text(0)) : std::string();
}

std::uint64_t Database::file_bytes() {
  SqlitePassage passage(gated_);
  sqlite3_int64 size = 0;
  sqlite3_file* file = file_of(handle_.get());
  check(nullptr, file->pMethods->xFileSize(file, &size));
  return static_cast<std::uint64_t>(size);
}

void Database::read_file(std::span<std::byte> bytes) {
  SqlitePassage passage(gated_);
  sqlite3_file* file = file_of(handle_.get());
  check(nullptr, file->pMethods->xRead(file, bytes.data(), static_cast<int>(bytes.size()), 0));
}

void Database::set_busy_wait(std::chrono::milliseconds wait) noexcept {
  wait_ = std::chrono::milliseconds(std::clamp<std::int64_t>(wait.count(), 0, 1 << 30));
  sqlite3_busy_timeout(handle_.get(), static_cast<int>(wait_.count()));
}

void Database::leave_log() noexcept { sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr); }

bool Database::abandon() noexcept {
  if (sqlite3_txn_state(handle_.get(), nullptr) == SQLITE_TXN_WRITE) {
    return false;
  }
  while (sqlite3_stmt* statement = sqlite3_next_stmt(handle_.get(), nullptr)) {
    sqlite3_finalize(statement);
  }
  leave_log();
  return sqlite3_close(handle_.release()) == SQLITE_OK;
}

std::int64_t Database::changes() const noexcept { return sqlite3_changes(handle_.get()); }

Transaction::Transaction(Database& database) : passage_(database.is_gated()), database_(database) {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (open_) {
    database_.roll_back();
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace kiln::cache
