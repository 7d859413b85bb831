#pragma once

#include <sqlite3.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/layered_store.hpp"
#include "cache/row.hpp"
#include "cache/schema.hpp"
#include "cache/store.hpp"
#include "support/sample_artifact.hpp"

/// What cache_bench measures on: databases of any size, Kiln's cache over them, and SQLite alone over the same files.
namespace kiln::bench {

/// How large the kernels are.
enum class Kernels {
  real,   ///< like the permutation of 36 features: 10 KB of cubin, 9 KB of PTX, 14 KB of spec; 11 KB a row
  small,  ///< 1 KB of cubin that does not compress and little else: 1.5 KB a row; what the look-up itself costs
};

inline const char* name_of(Kernels kernels) { return kernels == Kernels::real ? "real" : "small"; }

inline void must(bool ok, const char* what) {
  if (!ok) {
    std::fprintf(stderr, "cache_bench: %s failed\n", what);
    std::exit(1);
  }
}

/// Keys spread over the whole range, as hashes are.
inline Key key_number(std::uint64_t number) {
  return {number * 0x9E3779B97F4A7C15U ^ 0x1234567, number * 0xC2B2AE3D27D4EB4FU + 7};
}

/// Bytes of which about one in `rarity` tells something, so that they compress as code and text do.
inline std::string sparse_bytes(std::size_t size, unsigned rarity) {
  std::string bytes(size, ' ');
  std::uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = (state >> 8) % rarity == 0 ? static_cast<char>('!' + (state >> 24) % 90) : ' ';
  }
  return bytes;
}

/// The artifact that all rows hold, each under a key of its own: what tells them apart does not matter here.
inline Artifact make_artifact(Kernels kernels) {
  if (kernels == Kernels::small) {
    return test::sample_artifact(1, 1000);
  }
  Artifact artifact = test::sample_artifact(1, 64);
  for (const char byte : sparse_bytes(10'000, 5)) {
    artifact.image.push_back(static_cast<std::byte>(byte));
  }
  artifact.spec += sparse_bytes(14'200, 6);
  artifact.ptx += sparse_bytes(9'400, 6);
  return artifact;
}

inline ServiceOptions options_for(const std::filesystem::path& folder, std::uint64_t max_bytes = 0) {
  ServiceOptions options;
  options.cache_dir = folder;
  options.max_bytes = max_bytes;
  return options;
}

/// A process's cache.
class KilnCache {
 public:
  KilnCache(const std::filesystem::path& folder, const Artifact& artifact, std::uint64_t max_bytes = 0)
      : store_(options_for(folder, max_bytes)), artifact_(artifact) {}

  void get(std::uint64_t number) {
    must(store_.get(key_number(number), artifact_.spec, [] { return Compiler{13, 0, 88}; }).has_value(), "get");
  }
  /// Of this store's puts, how many rows had to leave.
  std::uint64_t evicted() {
    Stats stats;
    store_.fill(stats);
    return stats.evicted;
  }
  void put(std::uint64_t number) {
    Artifact artifact = artifact_;
    artifact.key = key_number(number);
    must(store_.put(artifact), "put");
  }

 private:
  cache::LayeredStore store_;
  const Artifact artifact_;
};

/// What a program would do with SQLite alone: the same statements and settings, nothing checked, nothing packed.
class RawDatabase {
 public:
  enum class Mode {
    immutable,  ///< as Kiln looks first: without locks
    shared,     ///< as Kiln looks when others may write
  };
  RawDatabase(const std::filesystem::path& folder, const cache::Row& row, Mode mode) : row_(row) {
    const bool immutable = mode == Mode::immutable;
    const std::string uri = "file:" + (folder / "kiln.db").string() + (immutable ? "?immutable=1" : "");
    const int flags =
        (immutable ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    must(sqlite3_open_v2(uri.c_str(), &database_, flags, nullptr) == SQLITE_OK, "sqlite3_open_v2");
    sqlite3_exec(database_, "PRAGMA synchronous = NORMAL", nullptr, nullptr, nullptr);
    sqlite3_busy_timeout(database_, 5000);
  }
  ~RawDatabase() {
    sqlite3_finalize(get_);
    sqlite3_finalize(put_);
    sqlite3_close(database_);
  }
  RawDatabase(const RawDatabase&) = delete;
  RawDatabase& operator=(const RawDatabase&) = delete;

  void get(std::uint64_t number) {
    prepare(get_, "SELECT * FROM artifacts WHERE key = ?1 AND compiler = 1300000088");
    const cache::Digest key = cache::to_digest(key_number(number));
    bind(get_, 1, key);
    must(sqlite3_step(get_) == SQLITE_ROW, "raw get");
    std::size_t bytes = 0;
    for (int column = 0; column < sqlite3_column_count(get_); ++column) {
      bytes += sqlite3_column_text(get_, column) != nullptr
                   ? static_cast<std::size_t>(sqlite3_column_bytes(get_, column))
                   : 0;
    }
    must(bytes > 0, "raw get");
    sqlite3_reset(get_);
  }
  void put(std::uint64_t number) {
    prepare(put_,
            "INSERT OR REPLACE INTO artifacts VALUES(NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    const cache::Digest key = cache::to_digest(key_number(number));
    bind(put_, 1, key);
    sqlite3_bind_int64(put_, 2, row_.compiler);
    for (int i = 0; const std::string* text : {&row_.template_name, &row_.target, &row_.kind, &row_.entry_names}) {
      bind(put_, 3 + i++, *text);
    }
    sqlite3_bind_int64(put_, 7, row_.image_bytes);
    sqlite3_bind_double(put_, 8, row_.compile_ms);
    for (int i = 0; std::int64_t value : {row_.registers, row_.spill_bytes, row_.created, row_.last_used}) {
      sqlite3_bind_int64(put_, 9 + i++, value);
    }
    bind(put_, 13, row_.checksum);
    bind(put_, 14, row_.entries);
    bind(put_, 15, row_.log);
    for (int i = 0; const auto* bytes : {&row_.spec, &row_.ptx, &row_.image}) {
      bind(put_, 16 + i++, *bytes);
    }
    must(sqlite3_step(put_) == SQLITE_DONE, "raw put");
    sqlite3_reset(put_);
  }

 private:
  void prepare(sqlite3_stmt*& statement, const char* sql) {
    if (statement == nullptr) {
      must(sqlite3_prepare_v2(database_, sql, -1, &statement, nullptr) == SQLITE_OK, "sqlite3_prepare_v2");
    }
  }
  static void bind(sqlite3_stmt* statement, int parameter, const std::string& text) {
    sqlite3_bind_text(statement, parameter, text.c_str(), static_cast<int>(text.size()), SQLITE_STATIC);
  }
  template <typename Bytes>
  static void bind(sqlite3_stmt* statement, int parameter, const Bytes& bytes) {
    sqlite3_bind_blob(statement, parameter, std::data(bytes), static_cast<int>(std::size(bytes)), SQLITE_STATIC);
  }

  const cache::Row row_;
  sqlite3* database_ = nullptr;
  sqlite3_stmt* get_ = nullptr;
  sqlite3_stmt* put_ = nullptr;
};

/// A user cache of so many rows, numbered from 0.
struct Place {
  Place(std::filesystem::path directory, std::uint64_t row_count, Kernels kind)
      : folder(std::move(directory)), rows(row_count), kernels(kind), artifact(make_artifact(kind)) {}

  std::string at() const { return " at " + std::to_string(rows) + " rows"; }
  std::shared_ptr<KilnCache> kiln(std::uint64_t max_bytes = 0) const {
    return std::make_shared<KilnCache>(folder, artifact, max_bytes);
  }
  std::shared_ptr<RawDatabase> raw(RawDatabase::Mode mode) const {
    return std::make_shared<RawDatabase>(folder, row, mode);
  }

  std::filesystem::path folder;
  std::uint64_t rows;
  Kernels kernels;
  Artifact artifact;
  cache::Row row = cache::to_row(artifact, std::time(nullptr)).value();
};

/// So that no figure waits for the disk, as far as the memory suffices.
inline void read_into_memory(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<char> buffer(1 << 20);
  while (stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()))) {
  }
}

/// Makes the cache, in an order that has nothing to do with the keys.
inline void fill(const Place& place) {
  place.kiln()->put(0);
  cache::Store store(cache::Database::open(place.folder / "kiln.db", cache::Database::Access::read_write,
                                           std::chrono::milliseconds(1000)));
  store.database().text("PRAGMA journal_mode = MEMORY");
  store.database().execute("PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000");
  cache::Row row = place.row;
  cache::Transaction transaction(store.database());
  for (std::uint64_t number = 0; number < place.rows; ++number) {
    row.key = cache::to_digest(key_number(number));
    row.checksum = cache::checksum_of(row);
    store.put(row);
  }
  transaction.commit();
  store.database().text("PRAGMA journal_mode = WAL");
  read_into_memory(place.folder / "kiln.db");
}

}  // namespace kiln::bench
