#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/sqlite_gate.hpp"
#include "support/unique_handle.hpp"

struct sqlite3;
struct sqlite3_stmt;

/// A thin hold on SQLite: the only file that knows it. Nothing here knows what Kiln stores.
namespace kiln::cache {

/// What has to follow from a failed SQLite call.
enum class SqliteFault {
  content,       ///< the file is no database, is damaged, or has not the tables it should have
  busy,          ///< someone else held it for longer than the busy wait
  input_output,  ///< the disk, the file system or memory failed, or may not be written: the file may be sound
};

/// A SQLite call failed. Internal to the cache: its layers turn it into a state, never into a caller's exception,
/// except where a caller named the file.
class SqliteError : public std::runtime_error {
 public:
  SqliteError(SqliteFault fault, int code, const std::string& message)
      : std::runtime_error(message), fault_(fault), code_(code) {}
  SqliteFault fault() const noexcept { return fault_; }
  /// SQLite's extended result code.
  int code() const noexcept { return code_; }

 private:
  SqliteFault fault_;
  int code_;
};

struct DatabaseTraits {
  using Type = sqlite3*;
  static Type invalid() noexcept { return nullptr; }
  static void close(Type database) noexcept;
};

struct StatementTraits {
  using Type = sqlite3_stmt*;
  static Type invalid() noexcept { return nullptr; }
  static void close(Type statement) noexcept;
};

/// A prepared statement. Parameters and columns are counted as SQLite does: from 1 and from 0. What is bound as text or
/// bytes must outlive the steps.
class Statement {
 public:
  Statement(support::UniqueHandle<StatementTraits> handle, std::chrono::milliseconds wait, bool gated) noexcept
      : handle_(std::move(handle)), wait_(wait), gated_(gated) {}

  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, double value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind(int parameter, std::span<const std::byte> bytes);

  /// True: there is a row. Waits for others as long as its connection does. Throws SqliteError.
  bool step();
  /// For a statement that gives no rows.
  void run();
  void reset() noexcept;

  std::int64_t integer(int column) const noexcept;
  double real(int column) const noexcept;
  /// Views until the next step or reset.
  std::string_view text(int column) const;
  std::span<const std::byte> bytes(int column) const;

 private:
  friend class Database;
  void check(int code) const;

  support::UniqueHandle<StatementTraits> handle_;
  std::chrono::milliseconds wait_;
  bool gated_;
};

/// A statement lent by its database; reset when the loan ends, however it ends.
class Loan {
 public:
  explicit Loan(Statement& statement) noexcept : statement_(&statement) {}
  Loan(Loan&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Loan& operator=(Loan&&) = delete;
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() {
    if (statement_ != nullptr) {
      statement_->reset();
    }
  }
  Statement* operator->() const noexcept { return statement_; }
  Statement& operator*() const noexcept { return *statement_; }

 private:
  Statement* statement_;
};

/// One connection, hardened: the file may have been made by hand to attack. Views, triggers, extensions, virtual tables
/// and all but a few functions are off. Not thread-safe.
class Database {
 public:
  enum class Access {
    create,      ///< read and write, made if it is not there
    read_write,  ///< must be there
    read_only,   ///< takes locks; makes no file, also not the shared memory of a WAL
    immutable,   ///< takes no locks, sees the main file only: nobody may be writing, or all that is read is verified
    build,       ///< as `create`, for a file that nobody else can have made or written: less hardened
  };

  /// No call sleeps for longer than `busy_wait` in all, whatever is in the way, and for no longer than the thread's
  /// WaitBudget has left. Throws SqliteError; what the file holds is looked at with the first statement only.
  static Database open(const std::filesystem::path& file, Access access, std::chrono::milliseconds busy_wait);

  /// Its owner keeps it away from forks: calls need not pass SQLite's gate (sqlite_gate.hpp). Before the first
  /// statement.
  void keep_from_forks() noexcept { gated_ = false; }
  bool is_gated() const noexcept { return gated_; }
  /// In the child of a fork, for a connection whose thread the child does not have: gives up what it holds. False when
  /// it was writing: it has to stay as it is.
  bool abandon() noexcept;

  /// Runs one or more statements that give nothing.
  void execute(const char* sql);
  /// Undoes the transaction that is open, unless SQLite has done so by itself.
  void roll_back() noexcept;
  /// The prepared statement of a constant, prepared once a connection. `sql` must be a constant: it is remembered by
  /// address.
  Loan use(const char* sql);
  /// A statement for once.
  Statement prepare(std::string_view sql);
  /// The first column of the first row.
  std::int64_t integer(const char* sql);
  std::string text(const char* sql);

  /// Of the file itself, without locks or log.
  std::uint64_t file_bytes();
  /// The first bytes of the file itself. Reads through SQLite's own descriptor: closing another one of the same file
  /// would drop the locks that SQLite holds on it anywhere in this process.
  void read_file(std::span<std::byte> bytes);
  void set_busy_wait(std::chrono::milliseconds wait) noexcept;
  /// Closing will neither carry a log over into the main file nor delete it: they are no longer this connection's.
  void leave_log() noexcept;

  /// Rows changed by the last statement.
  std::int64_t changes() const noexcept;

 private:
  explicit Database(support::UniqueHandle<DatabaseTraits> handle) noexcept : handle_(std::move(handle)) {}

  struct Prepared {
    const char* sql;
    std::unique_ptr<Statement> statement;
  };

  // Order matters: statements end before their connection.
  support::UniqueHandle<DatabaseTraits> handle_;
  std::vector<Prepared> prepared_;
  std::chrono::milliseconds wait_{0};
  bool gated_ = true;
};

/// One transaction for writing; undone unless committed. No fork comes in between: whoever waits for it to end, inside
/// SQLite, would wait in vain for a thread that the fork keeps out.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  const SqlitePassage passage_;
  Database& database_;
  bool open_ = true;
};

}  // namespace kiln::cache
