#pragma once

/// SQLite takes locks of its own, for its memory and for all that a process has open. So whoever calls it, and is not
/// kept away from forks in another way, passes a gate (support/fork_gate.hpp).
namespace kiln::cache {

/// Inside while it lives. May be nested. Waits while the gate is shut. Thread-safe.
class SqlitePassage {
 public:
  explicit SqlitePassage(bool needed = true) noexcept;
  ~SqlitePassage();
  SqlitePassage(const SqlitePassage&) = delete;
  SqlitePassage& operator=(const SqlitePassage&) = delete;

 private:
  const bool needed_;
};

/// Waits until nobody is inside, and keeps all others out until `open_sqlite_gate`, in both processes. For the thread
/// that forks, which must not be inside.
void shut_sqlite_gate() noexcept;
void open_sqlite_gate(bool in_child) noexcept;

}  // namespace kiln::cache
