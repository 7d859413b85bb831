// Databases that are out there: made by an earlier Kiln, they are used as they are.

#include <gtest/gtest.h>

#include "cache/layered_store.hpp"
#include "cache/row.hpp"
#include "cache_fixture.hpp"
#include "support/raw_database.hpp"

namespace kiln::cache {
namespace {

using namespace testing;

// What the first Kiln made. Never to be changed: users have it.
constexpr char k_format_1[] = R"sql(
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
INSERT INTO meta VALUES('format', '1');
INSERT INTO meta VALUES('lowest_compatible', '1');
PRAGMA application_id = 1265200238;
PRAGMA user_version = 1001;
)sql";

template <typename Bytes>
std::string blob(const Bytes& bytes) {
  static constexpr char k_digits[] = "0123456789abcdef";
  std::string text = "x'";
  for (const std::byte byte : bytes) {
    text += k_digits[std::to_integer<int>(byte) >> 4];
    text += k_digits[std::to_integer<int>(byte) & 15];
  }
  return text + "'";
}

std::string quoted(const std::string& text) { return "'" + text + "'"; }

std::string insert(const Row& row) {
  return "INSERT INTO artifacts VALUES(NULL, " + blob(row.key) + ", " + std::to_string(row.compiler) + ", " +
         quoted(row.template_name) + ", " + quoted(row.target) + ", " + quoted(row.kind) + ", " +
         quoted(row.entry_names) + ", " + std::to_string(row.image_bytes) + ", " + std::to_string(row.compile_ms) +
         ", " + std::to_string(row.registers) + ", " + std::to_string(row.spill_bytes) + ", " +
         std::to_string(row.created) + ", " + std::to_string(row.last_used) + ", " + blob(row.checksum) + ", " +
         quoted(row.entries) + ", " + quoted(row.log) + ", " + blob(row.spec) + ", " + blob(row.ptx) + ", " +
         blob(row.image) + ")";
}

constexpr int k_rows = 5;

void make_format_1(const std::filesystem::path& file, const std::string& more, const char* before = "") {
  write_file(file, "");
  test::RawDatabase database(file);
  database.execute(before);
  database.execute(k_format_1);
  database.execute(more);
  for (int number = 0; number < k_rows; ++number) {
    database.execute(insert(to_row(sample_artifact(number), 1'700'000'000).value()));
  }
}

TEST(Format, AUserCacheOfFormatOneKeepsItsRows) {
  const TemporaryFolder folder;
  make_format_1(folder.path() / "kiln.db", "INSERT INTO meta VALUES('kind', 'user')",
                "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL");
  ServiceOptions options;
  options.cache_dir = folder.path();
  {
    LayeredStore store(options);
    EXPECT_TRUE(store.put(sample_artifact(k_rows)));
    store.count({.compiles = 1});
  }
  LayeredStore store(options);
  for (int number = 0; number <= k_rows; ++number) {
    const auto hit = get(store, sample_artifact(number));
    ASSERT_TRUE(hit) << number;
    EXPECT_TRUE(same(hit->artifact, sample_artifact(number)));
  }
  const Stats stats = stats_of(store);
  EXPECT_EQ(stats.layers.front().entries, std::uint64_t{k_rows} + 1);
  EXPECT_EQ(stats.totals, (Totals{.compiles = 1, .puts = 1}));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "kiln.db.corrupt-1"));
}

TEST(Format, APackOfFormatOneIsUsed) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "old.kilnpack";
  make_format_1(file, "INSERT INTO meta VALUES('kind', 'pack'); INSERT INTO meta VALUES('policy', 'any')");
  ServiceOptions options;
  options.packs = {file};
  LayeredStore store(options);
  for (int number = 0; number < k_rows; ++number) {
    EXPECT_TRUE(get(store, sample_artifact(number))) << number;
  }
  EXPECT_EQ(stats_of(store).degraded, 0U);
}

}  // namespace
}  // namespace kiln::cache
