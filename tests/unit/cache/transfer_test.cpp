#include <sys/stat.h>

#include "cache/row.hpp"
#include "cache/sqlite.hpp"
#include "cache/store.hpp"
#include "cache/transfer.hpp"
#include "unit/cache/maintenance_fixture.hpp"

namespace kiln::cache {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class TransferTest : public MaintenanceTest {
 protected:
  TransferTest() { other_.cache_dir = root_ / "other"; }

  std::filesystem::path export_of(std::uint64_t count) {
    fill(count);
    const auto file = root_ / "rows.kilnpack";
    export_cache(options_, file);
    return file;
  }

  ServiceOptions other_;
};

TEST_F(TransferTest, CarriesEveryEntryOver) {
  const auto file = export_of(20);
  const auto result = import_cache(other_, {file});
  EXPECT_EQ(result.entries, 20u);
  EXPECT_EQ(result.present, 0u);
  EXPECT_THAT(result.damage, IsEmpty());
  for (std::uint64_t number = 1; number <= 20; ++number) {
    const auto artifact = get(other_, number);
    ASSERT_TRUE(artifact) << number;
    EXPECT_TRUE(test::same_artifact(*artifact, test::sample_artifact(number)));
  }
}

TEST_F(TransferTest, TheSameRowsGiveTheSameBytes) {
  fill(options_, 1, 30);
  ASSERT_EQ(export_cache(options_, root_ / "a").entries, 30u);
  // The same rows, put in another order, some twice, after others that are gone, and used at another time.
  fill(other_, 100, 5);
  trim(other_, {.max_bytes = 0});
  fill(other_, 16, 15);
  fill(other_, 1, 15);
  fill(other_, 10, 10);
  test::RawDatabase(*other_.cache_dir / "kiln.db").execute("UPDATE artifacts SET last_used = last_used - id * 1000");
  ASSERT_EQ(export_cache(other_, root_ / "b").entries, 30u);
  EXPECT_EQ(test::read_file(root_ / "a"), test::read_file(root_ / "b"));
  // And again after the way through an export.
  ServiceOptions third;
  third.cache_dir = root_ / "third";
  import_cache(third, {root_ / "a"});
  export_cache(third, root_ / "c");
  EXPECT_EQ(test::read_file(root_ / "a"), test::read_file(root_ / "c"));
}

TEST_F(TransferTest, AnExportIsAPack) {
  ServiceOptions fleet;
  fleet.packs = {export_of(3)};
  const auto artifact = get(fleet, 2);
  ASSERT_TRUE(artifact);
  EXPECT_TRUE(test::same_artifact(*artifact, test::sample_artifact(2)));
}

TEST_F(TransferTest, MergesAndSkipsWhatIsThere) {
  const auto first = export_of(10);
  const auto second = root_ / "second.kilnpack";
  fill(other_, 6, 10);
  export_cache(other_, second);
  ServiceOptions merged;
  merged.cache_dir = root_ / "merged";
  const auto result = import_cache(merged, {first, second});
  EXPECT_EQ(result.entries, 15u);
  EXPECT_EQ(result.present, 5u);
  EXPECT_EQ(import_cache(merged, {first, second}).present, 20u);
  EXPECT_EQ(verify(merged).checked, 15u);
}

TEST_F(TransferTest, LeavesDamagedRowsOutOfAnExport) {
  fill(5);
  test::RawDatabase(database()).execute("UPDATE artifacts SET log = 'forged' WHERE key = " + key_sql(3));
  const auto result = export_cache(options_, root_ / "rows");
  EXPECT_EQ(result.entries, 4u);
  ASSERT_THAT(result.damage, SizeIs(1));
  EXPECT_EQ(result.damage[0].key, test::sample_artifact(3).key);
  EXPECT_EQ(result.damage[0].path, database());
}

TEST_F(TransferTest, ImportsOnlyRowsThatVerify) {
  const auto file = export_of(6);
  {
    // A checksum that matches is no proof: whoever forges a row can compute it.
    Store store(Database::open(file, Database::Access::build, std::chrono::milliseconds(0)));
    Row row = store.find(to_digest(test::sample_artifact(2).key), *to_column(Compiler{13, 0, 88})).value();
    row.image = to_row(test::sample_artifact(3), 0)->image;
    row.spec = to_row(test::sample_artifact(3), 0)->spec;
    row.checksum = checksum_of(row);
    store.put(row);
    test::RawDatabase raw(file);
    raw.execute("UPDATE artifacts SET target = 'sm_80' WHERE key = " + key_sql(4));
  }
  const auto result = import_cache(other_, {file});
  EXPECT_EQ(result.entries, 4u);
  ASSERT_THAT(result.damage, SizeIs(2));
  for (const auto& damage : result.damage) {
    EXPECT_EQ(damage.layer, "rows.kilnpack");
    EXPECT_TRUE(damage.key == test::sample_artifact(2).key || damage.key == test::sample_artifact(4).key);
  }
  EXPECT_FALSE(get(other_, 2));
  EXPECT_FALSE(get(other_, 4));
  EXPECT_THAT(verify(other_).damage, IsEmpty());
}

TEST_F(TransferTest, TakesWhatItCanFromAPackWithDamagedPages) {
  const auto file = export_of(60);
  auto bytes = test::read_file(file);
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2 / 4096 * 4096), 4096, '\x5A');
  test::write_file(file, bytes);
  const auto result = import_cache(other_, {file});
  EXPECT_FALSE(result.damage.empty());
  EXPECT_LT(result.entries, 60u);
  EXPECT_THAT(verify(other_).damage, IsEmpty());
}

TEST_F(TransferTest, ReplacesADamagedRowOfTheCacheByASoundOne) {
  const auto file = export_of(3);
  test::RawDatabase(database()).execute("UPDATE artifacts SET log = 'forged' WHERE key = " + key_sql(2));
  const auto result = import_cache(options_, {file});
  EXPECT_EQ(result.entries, 1u);
  EXPECT_EQ(result.present, 2u);
  EXPECT_TRUE(has(2));
}

TEST_F(TransferTest, RefusesWhatIsNoPack) {
  test::write_file(root_ / "text", "hello");
  test::write_file(root_ / "empty", "");
  for (const char* name : {"text", "empty", "missing"}) {
    try {
      import_cache(other_, {root_ / name});
      FAIL() << name;
    } catch (const StoreError& error) {
      EXPECT_THAT(error.path(), HasSubstr(name));
    }
  }
  EXPECT_FALSE(std::filesystem::exists(*other_.cache_dir));
}

TEST_F(TransferTest, ImportsNothingWhereOneOfTheFilesIsNoPack) {
  const auto file = export_of(2);
  test::write_file(root_ / "text", "hello");
  for (const char* name : {"text", "missing"}) {
    try {
      import_cache(other_, {file, root_ / name});
      FAIL() << name;
    } catch (const StoreError& error) {
      EXPECT_THAT(error.path(), HasSubstr(name));
    }
    EXPECT_FALSE(std::filesystem::exists(*other_.cache_dir)) << name;
  }
}

TEST_F(TransferTest, RefusesAFileThatOthersMayWrite) {
  const auto file = export_of(2);
  ::chmod(file.c_str(), 0666);
  EXPECT_THROW(import_cache(other_, {file}), StoreError);
}

TEST_F(TransferTest, AFailedExportLeavesWhatWasThere) {
  const auto file = export_of(2);
  const auto before = test::read_file(file);
  EXPECT_THROW(export_cache(other_, file), StoreError);  // no such cache
  EXPECT_EQ(test::read_file(file), before);
  EXPECT_THROW(export_cache(options_, root_ / "no" / "such" / "directory"), StoreError);
  EXPECT_THROW(export_cache(ServiceOptions{}, file), Error);
}

// What was read so far would take the place of a good export, or, in a repair, of the cache itself.
TEST_F(TransferTest, WhatCannotBeReadNowIsNotTakenForDamage) {
  fill(3);
  test::RawDatabase raw(database());
  raw.text("PRAGMA journal_mode = DELETE");
  Store store(Database::open(database(), Database::Access::read_write, std::chrono::milliseconds(0)));
  ASSERT_EQ(store.count(), 3u);
  raw.execute("BEGIN EXCLUSIVE");
  EXPECT_THROW(write_sound_rows(store, root_ / "rows"), SqliteError);
  raw.execute("COMMIT");
  for (const auto& file : std::filesystem::directory_iterator(root_.path())) {
    EXPECT_EQ(file.path().filename(), "cache") << "nothing is left of the export";
  }
  EXPECT_EQ(write_sound_rows(store, root_ / "rows").entries, 3u);
}

TEST_F(TransferTest, AnExportOfABusyCacheSaysSo) {
  fill(2);
  test::RawDatabase raw(database());
  raw.text("PRAGMA journal_mode = DELETE");
  raw.execute("BEGIN EXCLUSIVE");
  options_.busy_wait = std::chrono::milliseconds(1);
  try {
    export_cache(options_, root_ / "rows");
    FAIL() << "it was read though it is locked";
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), HasSubstr("another process"));
    EXPECT_THAT(error.what(), Not(HasSubstr("repair")));
  }
}

TEST_F(TransferTest, AnImportIntoABusyCacheSaysSo) {
  const auto file = export_of(2);
  fill(other_, 10, 1);
  test::RawDatabase raw(*other_.cache_dir / "kiln.db");
  raw.execute("BEGIN IMMEDIATE");
  other_.busy_wait = std::chrono::milliseconds(1);
  try {
    import_cache(other_, {file});
    FAIL() << "it was written though it is locked";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.path(), (*other_.cache_dir / "kiln.db").string());
    EXPECT_THAT(error.what(), HasSubstr("another process"));
  }
}

TEST_F(TransferTest, AnExportReplacesWhatWasThere) {
  const auto file = export_of(2);
  fill(options_, 10, 3);
  EXPECT_EQ(export_cache(options_, file).entries, 5u);
  EXPECT_EQ(import_cache(other_, {file}).entries, 5u);
}

TEST_F(TransferTest, APackThatIsNotReplacedIsNamedWithTheReason) {
  const auto file = export_of(2);
  ::chmod(file.c_str(), 0666);
  try {
    export_cache(options_, file);
    FAIL() << "a file that everyone may write was replaced";
  } catch (const StoreError& error) {
    EXPECT_THAT(error.what(), HasSubstr("0666"));
  }
}

TEST_F(TransferTest, AnExportReplacesNothingButAPack) {
  fill(2);
  const auto source = root_ / "scale.cu";
  test::write_file(source, "somebody's work");
  EXPECT_THROW(export_cache(options_, source), StoreError);
  EXPECT_EQ(test::read_file(source), "somebody's work");

  const auto pipe = root_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(export_cache(options_, pipe), StoreError);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));

  EXPECT_THROW(export_cache(options_, root_.path()), StoreError);
  const auto link = root_ / "link";
  std::filesystem::create_symlink(source, link);
  EXPECT_THROW(export_cache(options_, link), StoreError);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(test::read_file(source), "somebody's work");
}

TEST_F(TransferTest, RefusesToImportIntoAReadOnlyCache) {
  const auto file = export_of(2);
  other_.cache_mode = CacheMode::read_only;
  EXPECT_THROW(import_cache(other_, {file}), StoreError);
}

TEST_F(TransferTest, SaysWhenTheCacheCannotBeWritten) {
  const auto file = export_of(2);
  test::write_file(root_ / "file", "");
  other_.cache_dir = root_ / "file" / "below";
  EXPECT_THROW(import_cache(other_, {file}), StoreError);
}

}  // namespace
}  // namespace kiln::cache
