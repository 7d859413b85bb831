#include "cache/tunings.hpp"

#include <algorithm>
#include <limits>

namespace kiln::cache {

namespace {

constexpr char k_create[] =
    "CREATE TABLE tunings(id INTEGER PRIMARY KEY NOT NULL, map BLOB NOT NULL, element_bytes INTEGER NOT NULL, inner "
    "INTEGER NOT NULL, rows INTEGER NOT NULL, device TEXT NOT NULL, strategy TEXT NOT NULL, measured INTEGER NOT NULL, "
    "UNIQUE(map, element_bytes, inner, rows, device))";
constexpr char k_table[] = "SELECT sql FROM sqlite_schema WHERE name = 'tunings'";
constexpr char k_find[] =
    "SELECT strategy FROM tunings WHERE map = ?1 AND element_bytes = ?2 AND inner = ?3 AND rows = ?4 AND device = ?5";
// A row that is replaced gets a new id: ids grow with time, whatever the clock does.
constexpr char k_put[] =
    "INSERT OR REPLACE INTO tunings(map, element_bytes, inner, rows, device, strategy, measured) VALUES(?1, ?2, ?3, "
    "?4, ?5, ?6, ?7)";
constexpr char k_forget[] =
    "DELETE FROM tunings WHERE id <= (SELECT id FROM tunings ORDER BY id DESC LIMIT 1 OFFSET 4096)";
constexpr char k_clear[] = "DELETE FROM tunings";
constexpr char k_count[] = "SELECT count(*) FROM tunings";

std::int64_t column_of(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>(std::min(value, std::uint64_t{std::numeric_limits<std::int64_t>::max()}));
}

void bind(Statement& statement, const Tuning& tuning) {
  statement.bind(1, tuning.map)
      .bind(2, column_of(tuning.element_bytes))
      .bind(3, column_of(tuning.inner))
      .bind(4, column_of(tuning.rows))
      .bind(5, tuning.device);
}

}  // namespace

Tunings::Table Tunings::table() {
  Loan found = database_.use(k_table);
  if (!found->step()) {
    return Table::absent;
  }
  return found->text(0) == k_create ? Table::ours : Table::other;
}

std::optional<std::string> Tunings::find(const Tuning& tuning) {
  if (table() != Table::ours) {
    return std::nullopt;
  }
  Loan find = database_.use(k_find);
  bind(*find, tuning);
  return find->step() ? std::optional(std::string(find->text(0))) : std::nullopt;
}

bool Tunings::put(const Tuning& tuning, std::string_view strategy, std::int64_t now) {
  switch (table()) {
    case Table::other:
      return false;
    case Table::absent:
      database_.execute(k_create);
      break;
    case Table::ours:
      break;
  }
  Loan put = database_.use(k_put);
  bind(*put, tuning);
  put->bind(6, strategy).bind(7, now).run();
  database_.use(k_forget)->run();
  return true;
}

void Tunings::clear() {
  if (table() == Table::ours) {
    database_.use(k_clear)->run();
  }
}

std::uint64_t Tunings::count() {
  return table() == Table::ours ? static_cast<std::uint64_t>(database_.integer(k_count)) : 0;
}

}  // namespace kiln::cache
