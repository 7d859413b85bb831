#include "cache/schema.hpp"

#include <array>
#include <cstring>
#include <span>
#include <string_view>

namespace kiln::cache {

namespace {

// What a query needs stands before the blobs, so that listing never reads a large row's overflow pages.
constexpr char k_create_tables[] = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE artifacts(
id INTEGER PRIMARY KEY NOT NULL,
key BLOB NOT NULL,
compiler INTEGER NOT NULL,
template TEXT NOT NULL,
target TEXT NOT NULL,
kind TEXT NOT NULL,
entry_names TEXT NOT NULL,
image_bytes INTEGER NOT NULL,
compile_ms REAL NOT NULL,
registers INTEGER NOT NULL,
spill_bytes INTEGER NOT NULL,
created INTEGER NOT NULL,
last_used INTEGER NOT NULL,
checksum BLOB NOT NULL,
entries TEXT NOT NULL,
log TEXT NOT NULL,
spec BLOB NOT NULL,
ptx BLOB NOT NULL,
image BLOB NOT NULL,
UNIQUE(key, compiler));
CREATE INDEX by_last_used ON artifacts(last_used);
CREATE TABLE toolchains(path TEXT PRIMARY KEY NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT NULL,
size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, compiler INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIEW kernels AS SELECT lower(hex(key)) AS key, template, target, kind,
printf('nvrtc %d.%d.%d', compiler / 100000000, compiler / 100000 % 1000, compiler % 100000) AS compiler,
entry_names, image_bytes, compile_ms, registers, spill_bytes,
datetime(created, 'unixepoch') AS created, datetime(last_used, 'unixepoch') AS last_used FROM artifacts;
)sql";

constexpr char k_count_tables[] = "SELECT count(*) FROM sqlite_schema";
constexpr char k_artifacts_sql[] = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'artifacts'";
constexpr char k_put_meta[] = "INSERT INTO meta(key, value) VALUES(?1, ?2)";
constexpr char k_get_meta[] = "SELECT value FROM meta WHERE key = ?1";

constexpr std::size_t k_header_size = 100;
constexpr std::string_view k_magic("SQLite format 3\0", 16);
constexpr std::size_t k_page_size_at = 16;
constexpr std::size_t k_page_count_at = 28;
constexpr std::size_t k_user_version_at = 60;
constexpr std::size_t k_application_id_at = 68;
// user_version holds both versions: format * 1000 + lowest compatible.
constexpr int k_version_base = 1000;
// A database of a newer format is left alone for ever, so a damaged number must not be taken for one.
constexpr int k_first_unlikely_format = 100;

using HeaderBytes = std::array<unsigned char, k_header_size>;

std::uint32_t big_endian(const HeaderBytes& header, std::size_t at) noexcept {
  return std::uint32_t{header[at]} << 24 | std::uint32_t{header[at + 1]} << 16 | std::uint32_t{header[at + 2]} << 8 |
         std::uint32_t{header[at + 3]};
}

std::uint64_t page_size(const HeaderBytes& header) noexcept {
  std::uint32_t size = std::uint32_t{header[k_page_size_at]} << 8 | header[k_page_size_at + 1];
  return size == 1 ? 65536 : size;  // 65536 does not fit 16 bits
}

/// A database whose tables are not made yet is empty: its maker was interrupted, or is at it.
FileHeader judge_versions(std::uint32_t application_id, std::int64_t versions, bool has_no_tables) {
  if (application_id == 0 && versions == 0 && has_no_tables) {
    return {FileHeader::Kind::empty, 0, {}};
  }
  if (application_id != k_application_id) {
    return {FileHeader::Kind::foreign, 0, "is a SQLite database, but not one of Kiln's"};
  }
  auto format = static_cast<int>(versions / k_version_base);
  std::int64_t lowest_compatible = versions % k_version_base;
  if (versions <= 0 || versions >= k_version_base * k_first_unlikely_format || lowest_compatible > format) {
    return {FileHeader::Kind::foreign, 0, "has no format version"};
  }
  if (format > k_format_version && lowest_compatible > k_format_version) {
    return {FileHeader::Kind::newer, format,
            "has format " + std::to_string(format) + ", made by a newer Kiln; this one reads up to format " +
                std::to_string(k_format_version) + ": update Kiln, or use another place"};
  }
  if (format < k_lowest_compatible_version) {
    return {FileHeader::Kind::older, format, "has format " + std::to_string(format) + ", which is no longer read"};
  }
  return {FileHeader::Kind::ours, format, {}};
}

FileHeader judge(const HeaderBytes& header, std::uint64_t file_size) {
  if (std::memcmp(header.data(), k_magic.data(), k_magic.size()) != 0) {
    return {FileHeader::Kind::foreign, 0, "is not a SQLite database"};
  }
  std::uint32_t pages = big_endian(header, k_page_count_at);
  auto versions = static_cast<std::int32_t>(big_endian(header, k_user_version_at));
  FileHeader judged = judge_versions(big_endian(header, k_application_id_at), versions, pages <= 1);
  std::uint64_t expected = std::uint64_t{pages} * page_size(header);
  if (judged.kind == FileHeader::Kind::ours && expected > file_size) {
    return {FileHeader::Kind::truncated, judged.format,
            "is truncated: it has " + std::to_string(file_size) + " bytes of " + std::to_string(expected)};
  }
  return judged;
}

void put_meta(Database& database, std::string_view key, std::string_view value) {
  database.use(k_put_meta)->bind(1, key).bind(2, value).run();
}

void create_tables(Database& database, std::string_view kind) {
  database.execute(k_create_tables);
  put_meta(database, "format", std::to_string(k_format_version));
  put_meta(database, "kind", kind);
  put_meta(database, "lowest_compatible", std::to_string(k_lowest_compatible_version));
  // PRAGMAs take no parameters.
  database.execute(("PRAGMA application_id = " + std::to_string(k_application_id)).c_str());
  int versions = k_format_version * k_version_base + k_lowest_compatible_version;
  database.execute(("PRAGMA user_version = " + std::to_string(versions)).c_str());
}

/// Several reads of one state of the database, though another process may be making the tables meanwhile.
class ReadTransaction {
 public:
  explicit ReadTransaction(Database& database) : database_(database) { database_.execute("BEGIN"); }
  ~ReadTransaction() { database_.roll_back(); }
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;

 private:
  Database& database_;
};

std::string get_meta(Database& database, std::string_view key) {
  Loan get = database.use(k_get_meta);
  get->bind(1, key);
  return get->step() ? std::string(get->text(0)) : std::string();
}

/// A newer database is never touched, so its number is believed only if the tables say the same: a damaged one would
/// keep the cache out for ever.
FileHeader confirm_newer(Database& database, FileHeader judged) {
  if (judged.kind != FileHeader::Kind::newer) {
    return judged;
  }
  try {
    if (get_meta(database, "format") == std::to_string(judged.format)) {
      return judged;
    }
  } catch (const SqliteError& error) {
    if (error.fault() != SqliteFault::content) {
      throw;
    }
  }
  return {FileHeader::Kind::foreign, 0, "has a damaged format version"};
}

}  // namespace

FileHeader header_of_file(Database& database) {
  std::uint64_t file_size = database.file_bytes();
  if (file_size == 0) {
    return {FileHeader::Kind::empty, 0, {}};
  }
  if (file_size < k_header_size) {
    return {FileHeader::Kind::truncated, 0, "has only " + std::to_string(file_size) + " bytes: it is no database"};
  }
  HeaderBytes header{};
  database.read_file(std::as_writable_bytes(std::span(header)));
  return confirm_newer(database, judge(header, file_size));
}

FileHeader header_of(Database& database) {
  ReadTransaction transaction(database);
  auto application_id = static_cast<std::uint32_t>(database.integer("PRAGMA application_id"));
  std::int64_t versions = database.integer("PRAGMA user_version");
  bool has_no_tables = database.integer(k_count_tables) == 0;
  return confirm_newer(database, judge_versions(application_id, versions, has_no_tables));
}

void create_user_schema(Database& database, JournalMode journal) {
  // Both have to be said before the first table.
  database.execute("PRAGMA auto_vacuum = INCREMENTAL");
  database.text(journal == JournalMode::wal ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE");
  Transaction transaction(database);
  if (database.integer(k_count_tables) == 0) {
    create_tables(database, "user");
  }
  transaction.commit();
}

void create_pack_schema(Database& database, PackPolicy policy) {
  Transaction transaction(database);
  create_tables(database, "pack");
  put_meta(database, "policy", policy == PackPolicy::any ? "any" : "same");
  transaction.commit();
}

PackPolicy read_pack_policy(Database& database) {
  std::string policy = get_meta(database, "policy");
  if (policy.empty() && get_meta(database, "kind") == "user") {
    throw SqliteError(SqliteFault::content, 0,
                      "it is a user cache, of which `kiln export --cache DIR FILE` makes a pack, DIR being its folder");
  }
  if (policy != "any" && policy != "same") {
    throw SqliteError(SqliteFault::content, 0, "it names no policy");
  }
  // A table without the index would be searched row by row.
  if (std::string_view(k_create_tables).find("\n" + database.text(k_artifacts_sql) + ";\n") == std::string_view::npos) {
    throw SqliteError(SqliteFault::content, 0, "its table of artifacts is not as it should be");
  }
  return policy == "any" ? PackPolicy::any : PackPolicy::same;
}

}  // namespace kiln::cache
