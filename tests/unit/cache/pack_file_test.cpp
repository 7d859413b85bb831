#include "cache/pack_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "cache/layered_store.hpp"
#include "cache/row.hpp"
#include "kiln/error.hpp"
#include "support/files.hpp"
#include "support/sample_artifact.hpp"
#include "support/temp_dir.hpp"

namespace kiln::cache {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class PackFileTest : public ::testing::Test {
 protected:
  std::filesystem::path pack() const { return folder_ / "a.kilnpack"; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
      names.push_back(file.path().filename().string());
    }
    return names;
  }
  static Row row(std::uint64_t number) { return to_row(test::sample_artifact(number), 0).value(); }
  bool serves(std::uint64_t number) const {
    ServiceOptions options;
    options.packs = {pack()};
    const auto wanted = test::sample_artifact(number);
    return LayeredStore(options).get(wanted.key, wanted.spec, [&] { return wanted.compiler; }).has_value();
  }

  const test::TempDir folder_;
};

TEST_F(PackFileTest, IsThereWhenItIsWhole) {
  PackFile file(pack(), PackPolicy::any);
  file.add(row(1));
  EXPECT_THAT(files(), UnorderedElementsAre("a.kilnpack.new"));
  file.finish();
  EXPECT_THAT(files(), UnorderedElementsAre("a.kilnpack"));
  EXPECT_TRUE(serves(1));
}

TEST_F(PackFileTest, GivenUpItLeavesNothing) {
  {
    PackFile file(pack(), PackPolicy::any);
  }
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(PackFileTest, ThatCannotBePutInPlaceLeavesNothing) {
  {
    PackFile file(pack(), PackPolicy::any);
    file.add(row(1));
    std::filesystem::create_directory(pack());
    EXPECT_THROW(file.finish(), StoreError);
  }
  EXPECT_THAT(files(), UnorderedElementsAre("a.kilnpack"));
}

TEST_F(PackFileTest, IsNeverAnothersUnfinishedOne) {
  PackFile first(pack(), PackPolicy::any);
  first.add(row(1));
  PackFile second(pack(), PackPolicy::any);
  try {
    first.finish();
    ADD_FAILURE() << "what the second has so far was put in place";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.path(), pack().string());
    EXPECT_THAT(error.what(), HasSubstr("another process"));
  }
  EXPECT_FALSE(std::filesystem::exists(pack()));
  second.add(row(2));
  second.finish();
  EXPECT_TRUE(serves(2));
  EXPECT_FALSE(serves(1));
}

TEST_F(PackFileTest, GivenUpItLeavesAnothersAlone) {
  std::optional<PackFile> first;
  first.emplace(pack(), PackPolicy::any);
  PackFile second(pack(), PackPolicy::any);
  first.reset();
  second.add(row(2));
  second.finish();
  EXPECT_TRUE(serves(2));
}

TEST_F(PackFileTest, TouchesNothingThatKilnDidNotMake) {
  const auto aside = folder_ / "a.kilnpack.new";
  test::write_file(folder_ / "theirs", "somebody's work");
  const std::string other_database = std::string("SQLite format 3\0", 16) + std::string(200, 'x');
  const std::vector<std::function<void(const std::filesystem::path&)>> makers{
      [](const auto& file) { test::write_file(file, "precious"); },
      [](const auto& file) { test::write_file(file, ""); },
      [&](const auto& file) { test::write_file(file, other_database); },
      [&](const auto& file) { std::filesystem::create_symlink(folder_ / "theirs", file); },
      [](const auto& file) { std::filesystem::create_directory(file); },
  };
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    for (const auto& make : makers) {
      const std::filesystem::path theirs = aside.string() + suffix;
      make(theirs);
      const auto kind = std::filesystem::symlink_status(theirs).type();
      const auto before = kind == std::filesystem::file_type::regular ? test::read_file(theirs) : "";
      try {
        PackFile file(pack(), PackPolicy::any);
        ADD_FAILURE() << theirs << " is in the way";
      } catch (const StoreError& error) {
        EXPECT_EQ(error.path(), pack().string());
        EXPECT_THAT(error.what(), HasSubstr("'" + theirs.string() + "' is in the way"));
        EXPECT_THAT(error.what(), HasSubstr("move it away"));
      }
      EXPECT_EQ(std::filesystem::symlink_status(theirs).type(), kind);
      EXPECT_EQ(kind == std::filesystem::file_type::regular ? test::read_file(theirs) : "", before);
      std::filesystem::remove(theirs);
    }
  }
  EXPECT_EQ(test::read_file(folder_ / "theirs"), "somebody's work");
}

TEST_F(PackFileTest, TakesThePlaceOfWhatAnInterruptedRunLeft) {
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    PackFile file(pack(), PackPolicy::any);
    file.add(row(2));
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_THAT(files(), UnorderedElementsAre("a.kilnpack.new"));
  PackFile file(pack(), PackPolicy::any);
  file.add(row(1));
  file.finish();
  EXPECT_THAT(files(), UnorderedElementsAre("a.kilnpack"));
  EXPECT_TRUE(serves(1));
}

TEST_F(PackFileTest, MayBeNamedWithTwoSlashes) {
  PackFile file("/" + pack().string(), PackPolicy::any);
  file.add(row(1));
  file.finish();
  EXPECT_TRUE(serves(1));
}

TEST_F(PackFileTest, KeepsThePermissionsOfWhatItReplaces) {
  {
    PackFile file(pack(), PackPolicy::any);
    file.finish();
  }
  ASSERT_EQ(::chmod(pack().c_str(), 0640), 0);
  PackFile file(pack(), PackPolicy::any);
  file.finish();
  struct stat status{};
  ASSERT_EQ(::stat(pack().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
}

}  // namespace
}  // namespace kiln::cache
