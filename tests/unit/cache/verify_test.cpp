#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/cache/maintenance_fixture.hpp"

namespace kiln::cache {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class VerifyTest : public MaintenanceTest {
 protected:
  /// Overwrites bytes in the middle of the file with others.
  void scribble(std::int64_t offset, std::size_t size) {
    const std::string noise(size, '\x5A');
    const int file = ::open(database().c_str(), O_WRONLY | O_CLOEXEC);
    EXPECT_EQ(::pwrite(file, noise.data(), noise.size(), offset), static_cast<ssize_t>(size));
    ::close(file);
  }
  std::filesystem::path aside() const { return database().string() + ".corrupt-1"; }
};

TEST_F(VerifyTest, FindsNothingInASoundCache) {
  fill(5);
  const auto result = verify(options_);
  EXPECT_EQ(result.checked, 5u);
  EXPECT_THAT(result.damage, IsEmpty());
}

TEST_F(VerifyTest, ACacheThatDoesNotExistIsInOrderAndStaysAbsent) {
  EXPECT_EQ(verify(options_, true).checked, 0u);
  EXPECT_FALSE(std::filesystem::exists(*options_.cache_dir));
  std::filesystem::create_directory(*options_.cache_dir);
  std::filesystem::permissions(*options_.cache_dir, std::filesystem::perms::owner_all);
  test::write_file(database(), "");
  EXPECT_THAT(verify(options_, true).damage, IsEmpty());
}

TEST_F(VerifyTest, NamesBadRowsAndLeavesThemWithoutRepair) {
  fill(5);
  test::RawDatabase(database()).execute("UPDATE artifacts SET log = 'forged' WHERE key = " + key_sql(3));
  const auto result = verify(options_);
  EXPECT_EQ(result.checked, 5u);
  ASSERT_THAT(result.damage, SizeIs(1));
  EXPECT_EQ(result.damage[0].layer, "user");
  EXPECT_EQ(result.damage[0].path, database());
  EXPECT_EQ(result.damage[0].key, test::sample_artifact(3).key);
  EXPECT_THAT(result.damage[0].problem, HasSubstr("checksum"));
  EXPECT_FALSE(result.damage[0].repaired);
  EXPECT_EQ(test::RawDatabase(database()).text("SELECT count(*) FROM artifacts"), "5");
}

TEST_F(VerifyTest, RepairDropsBadRowsOnly) {
  fill(5);
  test::RawDatabase(database())
      .execute("UPDATE artifacts SET image = x'00' WHERE key = " + key_sql(2) +
               "; UPDATE artifacts SET compile_ms = 1.0 WHERE key = " + key_sql(4));
  const auto result = verify(options_, true);
  ASSERT_THAT(result.damage, SizeIs(2));
  EXPECT_TRUE(result.damage[0].repaired && result.damage[1].repaired);
  EXPECT_THAT(verify(options_).damage, IsEmpty());
  EXPECT_EQ(verify(options_).checked, 3u);
  EXPECT_TRUE(has(1) && has(3) && has(5));
  EXPECT_FALSE(has(2) || has(4));
}

TEST_F(VerifyTest, RepairRebuildsADatabaseWithDamagedPagesFromItsSoundRows) {
  fill(40);
  // A page in the middle that belongs to some rows only.
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(database()));
  scribble(size / 2 / 4096 * 4096, 4096);
  const auto found = verify(options_);
  ASSERT_FALSE(found.damage.empty());

  const auto repaired = verify(options_, true);
  ASSERT_FALSE(repaired.damage.empty());
  EXPECT_TRUE(repaired.damage.back().repaired) << repaired.damage.back().problem;
  const auto after = verify(options_);
  EXPECT_THAT(after.damage, IsEmpty());
  EXPECT_EQ(test::RawDatabase(database()).integrity(), "ok");
  EXPECT_GE(after.checked, 1u);
  EXPECT_LT(after.checked, 40u);
  fill(40);
  EXPECT_EQ(verify(options_).checked, 40u);
}

TEST_F(VerifyTest, RepairMovesAsideWhatIsNoDatabase) {
  fill(3);
  scribble(0, 100);
  const auto found = verify(options_);
  ASSERT_THAT(found.damage, SizeIs(1));
  EXPECT_FALSE(found.damage[0].key);
  EXPECT_FALSE(found.damage[0].repaired);
  EXPECT_TRUE(verify(options_, true).damage.at(0).repaired);
  EXPECT_TRUE(std::filesystem::exists(aside()));
  EXPECT_FALSE(std::filesystem::exists(database()));
  fill(3);
  EXPECT_THAT(verify(options_).damage, IsEmpty());
}

TEST_F(VerifyTest, RepairMovesAsideATruncatedDatabase) {
  fill(20);
  std::filesystem::resize_file(database(), 4096);
  EXPECT_FALSE(verify(options_).damage.empty());
  EXPECT_TRUE(verify(options_, true).damage.back().repaired);
  fill(20);
  EXPECT_THAT(verify(options_).damage, IsEmpty());
}

TEST_F(VerifyTest, NeverTouchesADatabaseOfANewerKiln) {
  fill(2);
  test::RawDatabase(database()).execute("PRAGMA user_version = 9009; UPDATE meta SET value = 9 WHERE key = 'format'");
  EXPECT_THROW(verify(options_, true), StoreError);
  EXPECT_TRUE(std::filesystem::exists(database()));
}

TEST_F(VerifyTest, ChecksPacksButNeverChangesThem) {
  const auto file = root_ / "app.kilnpack";
  fill(4);
  export_cache(options_, file);
  ServiceOptions packs;
  packs.packs = {file, root_ / "missing.kilnpack"};
  EXPECT_EQ(verify(packs).checked, 4u);
  test::RawDatabase(file).execute("UPDATE artifacts SET log = 'forged' WHERE id = 2");
  const auto before = test::read_file(file);
  const auto result = verify(packs, true);
  EXPECT_EQ(result.checked, 4u);
  ASSERT_THAT(result.damage, SizeIs(2));
  EXPECT_EQ(result.damage[0].layer, "app.kilnpack");
  EXPECT_TRUE(result.damage[0].key);
  EXPECT_FALSE(result.damage[0].repaired);
  EXPECT_THAT(result.damage[1].problem, HasSubstr("no such pack"));
  EXPECT_EQ(test::read_file(file), before);
}

TEST_F(VerifyTest, FindsAPackWithDamagedPages) {
  const auto file = root_ / "app.kilnpack";
  fill(40);
  export_cache(options_, file);
  auto bytes = test::read_file(file);
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2 / 4096 * 4096), 4096, '\x5A');
  test::write_file(file, bytes);
  ServiceOptions packs;
  packs.packs = {file};
  EXPECT_FALSE(verify(packs).damage.empty());
}

TEST_F(VerifyTest, SaysWhyACacheIsNotTrusted) {
  fill(1);
  ::chmod(database().c_str(), 0666);
  try {
    verify(options_);
    FAIL() << "a database that everyone may write was looked at";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.path(), database().string());
    EXPECT_THAT(error.what(), HasSubstr("0666"));
  }
}

TEST_F(VerifyTest, NeedsACache) {
  EXPECT_THROW(verify(ServiceOptions{}), Error);
  options_.cache_mode = CacheMode::off;
  EXPECT_THROW(verify(options_), Error);
}

TEST_F(VerifyTest, LooksAtAReadOnlyCacheWithoutRepair) {
  fill(3);
  options_.cache_mode = CacheMode::read_only;
  EXPECT_EQ(verify(options_).checked, 3u);
  EXPECT_THROW(verify(options_, true), StoreError);
}

TEST_F(VerifyTest, SeesWhatIsInALiveLogOfAReadOnlyCache) {
  LayeredStore store(options_);
  ASSERT_TRUE(store.put(test::sample_artifact(1)));
  ASSERT_GT(std::filesystem::file_size(database().string() + "-wal"), 0u);
  ServiceOptions read_only = options_;
  read_only.cache_mode = CacheMode::read_only;
  EXPECT_EQ(verify(read_only).checked, 1u);
  EXPECT_EQ(export_cache(read_only, root_ / "rows").entries, 1u);
  EXPECT_TRUE(store.put(test::sample_artifact(2)));
}

TEST_F(VerifyTest, WorksBesideAServiceThatUsesTheCache) {
  LayeredStore store(options_);
  for (std::uint64_t number = 1; number <= 10; ++number) {
    ASSERT_TRUE(store.put(test::sample_artifact(number)));
  }
  EXPECT_EQ(verify(options_, true).checked, 10u);
  const auto artifact = test::sample_artifact(7);
  EXPECT_TRUE(store.get(artifact.key, artifact.spec, [&] { return artifact.compiler; }));
  EXPECT_TRUE(store.put(test::sample_artifact(11)));
  EXPECT_EQ(verify(options_).checked, 11u);
}

}  // namespace
}  // namespace kiln::cache
