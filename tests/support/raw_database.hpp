#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace kiln::test {

/// A database as any other program opens it: to look behind the code under test, and to damage what it wrote.
class RawDatabase {
 public:
  explicit RawDatabase(const std::filesystem::path& file) {
    const int code = sqlite3_open_v2(file.c_str(), &database_, SQLITE_OPEN_READWRITE, nullptr);
    if (code != SQLITE_OK) {
      sqlite3_close(database_);
      throw std::runtime_error(file.string() + ": " + sqlite3_errstr(code));
    }
    sqlite3_busy_timeout(database_, 20000);
  }
  RawDatabase(const RawDatabase&) = delete;
  RawDatabase& operator=(const RawDatabase&) = delete;
  ~RawDatabase() { sqlite3_close(database_); }

  void execute(const std::string& sql) { run(sql); }
  /// The first column of the last row; empty for none.
  std::string text(const std::string& sql) { return run(sql); }
  std::string integrity() { return run("PRAGMA integrity_check"); }

 private:
  std::string run(const std::string& sql) {
    std::string last;
    char* message = nullptr;
    const auto keep = [](void* out, int count, char** values, char**) {
      *static_cast<std::string*>(out) = count > 0 && values[0] != nullptr ? values[0] : "";
      return 0;
    };
    if (sqlite3_exec(database_, sql.c_str(), keep, &last, &message) != SQLITE_OK) {
      const std::string why = message == nullptr ? sqlite3_errmsg(database_) : message;
      sqlite3_free(message);
      throw std::runtime_error(sql + ": " + why);
    }
    return last;
  }

  sqlite3* database_ = nullptr;
};

}  // namespace kiln::test
