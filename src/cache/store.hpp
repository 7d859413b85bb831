#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/eviction.hpp"
#include "cache/row.hpp"
#include "cache/sqlite.hpp"
#include "kiln/entry.hpp"

namespace kiln::cache {

/// A library file as the file system tells it: what decides whether a remembered identity still holds.
struct LibraryStamp;

/// What tells the rows of one key apart.
struct RowVersion {
  std::int64_t id = 0;
  std::int64_t compiler = 0;
  std::int64_t created = 0;
};

/// The rows of one key. Most keys have one row: it comes whole.
struct Found {
  std::vector<RowVersion> versions;
  std::optional<Row> first;  ///< of versions.front()
};

/// What a row is found by.
struct RowKey {
  Digest key{};
  std::int64_t compiler = 0;
  friend auto operator<=>(const RowKey&, const RowKey&) = default;
};

/// The rows of one database: every statement that Kiln runs on `artifacts` and `toolchains`. No policy, no trust, no
/// recovery: a SqliteError goes to the caller. Not thread-safe.
class Store {
 public:
  explicit Store(Database database) noexcept : database_(std::move(database)) {}

  Database& database() noexcept { return database_; }

  Found find(const Digest& key);
  std::optional<Row> find(const Digest& key, std::int64_t compiler);
  bool contains(const Digest& key);
  bool contains(const Digest& key, std::int64_t compiler);

  /// Writes or replaces. Within a transaction of the caller's.
  void put(const Row& row);
  void drop(std::int64_t id);
  void drop(const Digest& key, std::int64_t compiler);
  /// True if there was one, made then and in so long: no other of that key is.
  bool drop(const Digest& key, std::int64_t compiler, std::int64_t created, double compile_ms);
  void touch(std::int64_t id, std::int64_t last_used);
  std::uint64_t clear();
  /// Rows that were used in the future, by a clock that was wrong, were used now.
  void bring_back(std::int64_t now);

  std::optional<std::int64_t> compiler_of(const LibraryStamp& stamp);
  void set_compiler(const LibraryStamp& stamp, std::int64_t compiler);
  /// Of the slowest of the template's last sixteen compiles, among the thousand rows used last.
  std::optional<double> recent_compile_ms(std::string_view template_name);

  std::uint64_t count();
  /// Of the database file without the pages that hold nothing.
  std::uint64_t used_bytes();
  std::uint64_t file_bytes();

  /// Least recently used first, until `visit` returns false.
  void visit_least_recent(const std::function<bool(const EvictionCandidate&)>& visit);
  /// Gives the file space of dropped rows back to the file system. Not within a transaction.
  void return_space();

  /// The entries that match, in the query's order, until `visit` returns false; then returns false. Streams.
  /// A query whose key prefix is no hex number matches nothing. `layer` is left empty.
  bool query(const Query& query, const std::function<bool(const Entry&)>& visit);
  /// The next few keys after `last`, or the first ones without it, in order. From the index alone.
  std::vector<RowKey> keys_after(const std::optional<RowKey>& last);
  /// One row as `query` lists it.
  std::optional<Entry> entry(std::int64_t id);
  /// Whole rows whose key begins with `prefix`, newest first, until `visit` returns false.
  void visit_prefix(std::string_view prefix, const std::function<bool(const Row&)>& visit);
  /// Every row in the order of (key, compiler), until `visit` returns false.
  void visit_all(const std::function<bool(const Row&)>& visit);

 private:
  Database database_;
};

}  // namespace kiln::cache
