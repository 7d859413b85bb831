#include "cache/store.hpp"

#include <algorithm>

#include "cache/layered_store.hpp"

namespace kiln::cache {

namespace {

// The order of the columns wherever a whole row is read or written.
#define KILN_ROW_COLUMNS                                                                                      \
  "id, key, compiler, template, target, kind, entry_names, image_bytes, compile_ms, registers, spill_bytes, " \
  "created, last_used, checksum, entries, log, spec, ptx, image"

constexpr char k_find[] = "SELECT " KILN_ROW_COLUMNS " FROM artifacts WHERE key = ?1 ORDER BY compiler LIMIT 64";
constexpr char k_find_version[] = "SELECT " KILN_ROW_COLUMNS " FROM artifacts WHERE key = ?1 AND compiler = ?2";
constexpr char k_contains[] = "SELECT 1 FROM artifacts WHERE key = ?1 LIMIT 1";
constexpr char k_contains_version[] = "SELECT 1 FROM artifacts WHERE key = ?1 AND compiler = ?2";
constexpr char k_put[] =
    "INSERT OR REPLACE INTO artifacts(key, compiler, template, target, kind, entry_names, image_bytes, compile_ms, "
    "registers, spill_bytes, created, last_used, checksum, entries, log, spec, ptx, image) "
    "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";
constexpr char k_drop[] = "DELETE FROM artifacts WHERE id = ?1";
constexpr char k_drop_version[] = "DELETE FROM artifacts WHERE key = ?1 AND compiler = ?2";
constexpr char k_drop_made[] =
    "DELETE FROM artifacts WHERE key = ?1 AND compiler = ?2 AND created = ?3 AND compile_ms = ?4";
constexpr char k_touch[] = "UPDATE artifacts SET last_used = ?2 WHERE id = ?1";
constexpr char k_bring_back[] = "UPDATE artifacts SET last_used = ?1 WHERE last_used > ?2";
constexpr char k_clear[] = "DELETE FROM artifacts";
constexpr char k_compiler_of[] =
    "SELECT compiler FROM toolchains WHERE path = ?1 AND device = ?2 AND inode = ?3 AND size = ?4 AND mtime_ns = ?5";
constexpr char k_set_compiler[] =
    "INSERT OR REPLACE INTO toolchains(path, device, inode, size, mtime_ns, compiler) VALUES(?1, ?2, ?3, ?4, ?5, ?6)";
constexpr char k_recent_compile_ms[] =
    "SELECT max(compile_ms) FROM (SELECT compile_ms FROM (SELECT template, compile_ms FROM artifacts "
    "ORDER BY last_used DESC, id DESC LIMIT 1000) WHERE template = ?1 LIMIT 16) HAVING count(*) > 0";
constexpr char k_count[] = "SELECT count(*) FROM artifacts";
constexpr char k_least_recent[] =
    "SELECT id, length(spec) + length(ptx) + length(image) + length(entries) + length(log), last_used "
    "FROM artifacts ORDER BY last_used, id";
constexpr char k_visit_prefix[] =
    "SELECT " KILN_ROW_COLUMNS " FROM artifacts WHERE key BETWEEN ?1 AND ?2 ORDER BY created DESC, id DESC";
constexpr char k_visit_all[] = "SELECT " KILN_ROW_COLUMNS " FROM artifacts ORDER BY key, compiler";
constexpr char k_keys_after[] =
    "SELECT key, compiler FROM artifacts WHERE (key, compiler) > (?1, ?2) ORDER BY key, compiler LIMIT 256";
constexpr char k_entry[] =
    "SELECT key, compiler, template, target, kind, entry_names, image_bytes, compile_ms, registers, spill_bytes, "
    "created, last_used FROM artifacts WHERE id = ?1";
constexpr std::string_view k_query =
    "SELECT key, compiler, template, target, kind, entry_names, image_bytes, compile_ms, registers, spill_bytes, "
    "created, last_used FROM artifacts WHERE key BETWEEN ?1 AND ?2";

// What a row takes beyond its texts and blobs: the short columns, its part of two indexes, and half a page lost at the
// end of its overflow pages.
constexpr std::uint64_t k_row_overhead = 2400;

Digest to_digest_or_zero(std::span<const std::byte> bytes) {
  Digest digest{};
  if (bytes.size() == digest.size()) {
    std::copy(bytes.begin(), bytes.end(), digest.begin());
  }
  return digest;
}

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

Row row_at(Statement& statement) {
  Row row;
  row.id = statement.integer(0);
  row.key = to_digest_or_zero(statement.bytes(1));
  row.compiler = statement.integer(2);
  row.template_name = statement.text(3);
  row.target = statement.text(4);
  row.kind = statement.text(5);
  row.entry_names = statement.text(6);
  row.image_bytes = statement.integer(7);
  row.compile_ms = statement.real(8);
  row.registers = statement.integer(9);
  row.spill_bytes = statement.integer(10);
  row.created = statement.integer(11);
  row.last_used = statement.integer(12);
  row.checksum = to_digest_or_zero(statement.bytes(13));
  row.entries = statement.text(14);
  row.log = statement.text(15);
  row.spec = copy_of(statement.bytes(16));
  row.ptx = copy_of(statement.bytes(17));
  row.image = copy_of(statement.bytes(18));
  return row;
}

/// A row whose short columns were damaged is listed as far as it can be understood; the checksum speaks when it is
/// used.
Entry entry_at(Statement& statement) {
  Entry entry;
  entry.key = to_key(statement.bytes(0)).value_or(Key{});
  entry.compiler = to_compiler(statement.integer(1));
  entry.template_name = statement.text(2);
  entry.target = to_target(statement.text(3)).value_or(Target{});
  entry.kind = to_image_kind(statement.text(4)).value_or(ImageKind::cubin);
  entry.entry_names = statement.text(5);
  entry.image_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, statement.integer(6)));
  entry.compile_ms = statement.real(7);
  entry.registers = static_cast<int>(statement.integer(8));
  entry.spill_bytes = statement.integer(9);
  entry.created = statement.integer(10);
  entry.last_used = statement.integer(11);
  return entry;
}

std::string_view order_of(QueryOrder order) {
  switch (order) {
    case QueryOrder::last_used:
      return " ORDER BY last_used DESC, id DESC";
    case QueryOrder::created:
      return " ORDER BY created DESC, id DESC";
    case QueryOrder::template_name:
      return " ORDER BY template, key, compiler";
    case QueryOrder::target:
      return " ORDER BY target, key, compiler";
    case QueryOrder::image_bytes:
      return " ORDER BY image_bytes DESC, key, compiler";
    case QueryOrder::compile_ms:
      return " ORDER BY compile_ms DESC, key, compiler";
    case QueryOrder::key:
      return " ORDER BY key, compiler";
  }
  return "";
}

std::string sql_of(const Query& query) {
  std::string sql(k_query);
  if (query.template_name) {
    sql += " AND template = ?3";
  }
  if (query.target) {
    sql += " AND target = ?4";
  }
  sql += order_of(query.order);
  if (query.limit > 0) {
    sql += " LIMIT ?5";
  }
  return sql;
}

std::int64_t signed_of(std::uint64_t number) { return static_cast<std::int64_t>(number); }

}  // namespace

Found Store::find(const Digest& key) {
  Found found;
  Loan find = database_.use(k_find);
  find->bind(1, key);
  while (find->step()) {
    if (!found.first) {
      found.first = row_at(*find);
    }
    found.versions.push_back({find->integer(0), find->integer(2), find->integer(11)});
  }
  return found;
}

std::optional<Row> Store::find(const Digest& key, std::int64_t compiler) {
  Loan find = database_.use(k_find_version);
  find->bind(1, key).bind(2, compiler);
  return find->step() ? std::optional(row_at(*find)) : std::nullopt;
}

bool Store::contains(const Digest& key) {
  Loan contains = database_.use(k_contains);
  return contains->bind(1, key).step();
}

bool Store::contains(const Digest& key, std::int64_t compiler) {
  Loan contains = database_.use(k_contains_version);
  return contains->bind(1, key).bind(2, compiler).step();
}

void Store::put(const Row& row) {
  Loan put = database_.use(k_put);
  put->bind(1, row.key)
      .bind(2, row.compiler)
      .bind(3, row.template_name)
      .bind(4, row.target)
      .bind(5, row.kind)
      .bind(6, row.entry_names)
      .bind(7, row.image_bytes)
      .bind(8, row.compile_ms)
      .bind(9, row.registers)
      .bind(10, row.spill_bytes)
      .bind(11, row.created)
      .bind(12, row.last_used)
      .bind(13, row.checksum)
      .bind(14, row.entries)
      .bind(15, row.log)
      .bind(16, row.spec)
      .bind(17, row.ptx)
      .bind(18, row.image)
      .run();
}

void Store::drop(std::int64_t id) { database_.use(k_drop)->bind(1, id).run(); }

void Store::drop(const Digest& key, std::int64_t compiler) {
  database_.use(k_drop_version)->bind(1, key).bind(2, compiler).run();
}

bool Store::drop(const Digest& key, std::int64_t compiler, std::int64_t created, double compile_ms) {
  database_.use(k_drop_made)->bind(1, key).bind(2, compiler).bind(3, created).bind(4, compile_ms).run();
  return database_.changes() > 0;
}

void Store::touch(std::int64_t id, std::int64_t last_used) {
  database_.use(k_touch)->bind(1, id).bind(2, last_used).run();
}

void Store::bring_back(std::int64_t now) {
  database_.use(k_bring_back)->bind(1, now).bind(2, now + k_touch_interval).run();
}

std::uint64_t Store::clear() {
  database_.use(k_clear)->run();
  return static_cast<std::uint64_t>(database_.changes());
}

std::optional<std::int64_t> Store::compiler_of(const LibraryStamp& stamp) {
  Loan get = database_.use(k_compiler_of);
  get->bind(1, stamp.path)
      .bind(2, signed_of(stamp.device))
      .bind(3, signed_of(stamp.inode))
      .bind(4, signed_of(stamp.size))
      .bind(5, stamp.mtime_ns);
  return get->step() ? std::optional(get->integer(0)) : std::nullopt;
}

void Store::set_compiler(const LibraryStamp& stamp, std::int64_t compiler) {
  database_.use(k_set_compiler)
      ->bind(1, stamp.path)
      .bind(2, signed_of(stamp.device))
      .bind(3, signed_of(stamp.inode))
      .bind(4, signed_of(stamp.size))
      .bind(5, stamp.mtime_ns)
      .bind(6, compiler)
      .run();
}

std::optional<double> Store::recent_compile_ms(std::string_view template_name) {
  Loan get = database_.use(k_recent_compile_ms);
  get->bind(1, template_name);
  return get->step() ? std::optional(get->real(0)) : std::nullopt;
}

std::uint64_t Store::count() { return static_cast<std::uint64_t>(database_.integer(k_count)); }

std::uint64_t Store::file_bytes() {
  return static_cast<std::uint64_t>(database_.integer("PRAGMA page_count") * database_.integer("PRAGMA page_size"));
}

std::uint64_t Store::used_bytes() {
  std::int64_t pages = database_.integer("PRAGMA page_count") - database_.integer("PRAGMA freelist_count");
  return static_cast<std::uint64_t>(pages * database_.integer("PRAGMA page_size"));
}

void Store::visit_least_recent(const std::function<bool(const EvictionCandidate&)>& visit) {
  Loan least_recent = database_.use(k_least_recent);
  while (least_recent->step()) {
    auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, least_recent->integer(1)));
    if (!visit({least_recent->integer(0), bytes + k_row_overhead, least_recent->integer(2)})) {
      return;
    }
  }
}

void Store::return_space() { database_.execute("PRAGMA incremental_vacuum"); }

bool Store::query(const Query& query, const std::function<bool(const Entry&)>& visit) {
  std::optional<std::pair<Key, Key>> range = key_range(query.key_prefix);
  if (!range) {
    return true;
  }
  Digest first = to_digest(range->first);
  Digest last = to_digest(range->second);
  std::string target = query.target ? query.target->text() : std::string();
  Statement statement = database_.prepare(sql_of(query));
  statement.bind(1, first).bind(2, last);
  if (query.template_name) {
    statement.bind(3, *query.template_name);
  }
  if (query.target) {
    statement.bind(4, target);
  }
  if (query.limit > 0) {
    statement.bind(5, signed_of(query.limit));
  }
  while (statement.step()) {
    if (!visit(entry_at(statement))) {
      return false;
    }
  }
  return true;
}

std::vector<RowKey> Store::keys_after(const std::optional<RowKey>& last) {
  std::vector<RowKey> keys;
  Loan next = database_.use(k_keys_after);
  // The empty blob comes before every other.
  next->bind(1, last ? std::span<const std::byte>(last->key) : std::span<const std::byte>());
  next->bind(2, last ? last->compiler : -1);
  while (next->step()) {
    keys.push_back({to_digest_or_zero(next->bytes(0)), next->integer(1)});
  }
  return keys;
}

std::optional<Entry> Store::entry(std::int64_t id) {
  Loan entry = database_.use(k_entry);
  entry->bind(1, id);
  return entry->step() ? std::optional(entry_at(*entry)) : std::nullopt;
}

void Store::visit_prefix(std::string_view prefix, const std::function<bool(const Row&)>& visit) {
  std::optional<std::pair<Key, Key>> range = key_range(prefix);
  if (!range) {
    return;
  }
  Digest first = to_digest(range->first);
  Digest last = to_digest(range->second);
  Loan rows = database_.use(k_visit_prefix);
  rows->bind(1, first).bind(2, last);
  while (rows->step()) {
    if (!visit(row_at(*rows))) {
      return;
    }
  }
}

void Store::visit_all(const std::function<bool(const Row&)>& visit) {
  Loan rows = database_.use(k_visit_all);
  while (rows->step()) {
    if (!visit(row_at(*rows))) {
      return;
    }
  }
}

#undef KILN_ROW_COLUMNS

}  // namespace kiln::cache
