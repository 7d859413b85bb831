#include "cache/sqlite_gate.hpp"

#include <chrono>

#include "support/fork_gate.hpp"

namespace kiln::cache {

namespace {

// Never destroyed: a service may live until the very end.
support::ForkGate& gate() {
  static support::ForkGate* const the_gate = new support::ForkGate;
  return *the_gate;
}

thread_local int t_depth = 0;

}  // namespace

SqlitePassage::SqlitePassage(bool needed) noexcept : needed_(needed) {
  if (needed_ && t_depth++ == 0) {
    gate().enter();
  }
}

SqlitePassage::~SqlitePassage() {
  if (needed_ && --t_depth == 0) {
    gate().leave();
  }
}

void shut_sqlite_gate() noexcept {
  // A call ends when a lock was waited for long enough, or a listing is sorted.
  while (!gate().shut(std::chrono::hours(1))) {
    gate().open(false);
  }
}

void open_sqlite_gate(bool in_child) noexcept { gate().open(in_child); }

}  // namespace kiln::cache
