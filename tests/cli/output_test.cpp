#include "cli/output.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <exception>

#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

class WriteFile : public testing::Test {
 protected:
  void write(const fs::path& file) { write_file(out_, file, "new"); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.path()), {}));
  }

  test::TempDir folder_;
  Output out_;
};

TEST_F(WriteFile, LeavesNothingBesideIt) {
  write(folder_ / "a");
  EXPECT_EQ(test::read_file(folder_ / "a"), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteFile, KeepsThePermissionsOfWhatItReplaces) {
  test::write_file(folder_ / "a", "old");
  fs::permissions(folder_ / "a", fs::perms(0640));
  write(folder_ / "a");
  EXPECT_EQ(test::read_file(folder_ / "a"), "new");
  EXPECT_EQ(fs::status(folder_ / "a").permissions(), fs::perms(0640));
}

TEST_F(WriteFile, WritesThroughLinksAndKeepsThem) {
  fs::create_directory(folder_ / "real");
  test::write_file(folder_ / "real/a", "old");
  fs::create_symlink("real/a", folder_ / "near");
  fs::create_symlink(folder_ / "near", folder_ / "far");
  write(folder_ / "far");
  EXPECT_TRUE(fs::is_symlink(folder_ / "far"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "near"));
  EXPECT_EQ(test::read_file(folder_ / "real/a"), "new");
}

TEST_F(WriteFile, WritesBehindWhatAnOpenFileHas) {
  test::write_file(folder_ / "a", "old ");
  const int descriptor = ::open((folder_ / "a").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  write("/proc/self/fd/" + std::to_string(descriptor));
  write("/dev/fd/" + std::to_string(descriptor));
  ASSERT_EQ(::write(descriptor, " more", 5), 5);
  ::close(descriptor);
  EXPECT_EQ(test::read_file(folder_ / "a"), "old newnew more");
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteFile, RefusesADescriptorThatThereIsNot) {
  // The last is no number that a descriptor can have, and must not become another.
  for (const char* file : {"/dev/fd/999", "/proc/self/fd/999", "/dev/fd/", "/dev/fd/99999999999"}) {
    EXPECT_THROW(write(file), std::exception) << file;
  }
}

TEST_F(WriteFile, MakesWhatADanglingLinkLeadsTo) {
  fs::create_symlink("b", folder_ / "a");
  write(folder_ / "a");
  EXPECT_TRUE(fs::is_symlink(folder_ / "a"));
  EXPECT_EQ(test::read_file(folder_ / "b"), "new");
}

TEST_F(WriteFile, RefusesWhatCannotBeWrittenNamingIt) {
  fs::create_symlink("a", folder_ / "b");
  fs::create_symlink("b", folder_ / "a");
  for (const fs::path& file : {folder_ / "a", folder_ / "no/file", folder_.path()}) {
    try {
      write(file);
      ADD_FAILURE() << file;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(file.string()), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(files(), 2);
}

TEST_F(WriteFile, NeverReplacesADatabase) {
  const std::string database("SQLite format 3\0 and what is in it", 35);
  test::write_file(folder_ / "kiln.db", database);
  fs::create_symlink("kiln.db", folder_ / "link");
  for (const fs::path& file : {folder_ / "kiln.db", folder_ / "link"}) {
    try {
      write(file);
      ADD_FAILURE() << file;
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find("is a database"), std::string::npos) << error.what();
    }
    EXPECT_THROW(require_place_for(file), std::runtime_error);
  }
  EXPECT_EQ(test::read_file(folder_ / "kiln.db"), database);
}

TEST_F(WriteFile, LeavesNothingBehindWithoutDescriptors) {
#ifdef KILN_SANITIZED
  GTEST_SKIP() << "the sanitizers open a pipe to look at an object";
#endif
  Output out;
  const fs::path file = folder_ / "a";
  std::exception_ptr refusal;
  const int free = ::dup(STDOUT_FILENO);
  ASSERT_GE(free, 0);
  ::close(free);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{static_cast<rlim_t>(free), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  try {
    write_file(out, file, "new");
  } catch (...) {
    refusal = std::current_exception();
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(files(), 0);
  ASSERT_TRUE(refusal);
  try {
    std::rethrow_exception(refusal);
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("ulimit -n"), std::string::npos) << error.what();
  }
}

TEST_F(WriteFile, KnowsTheSameFileByAnotherName) {
  test::write_file(folder_ / "a", "old");
  fs::create_symlink("a", folder_ / "b");
  EXPECT_TRUE(is_same_file(folder_ / "a", folder_ / "b"));
  EXPECT_FALSE(is_same_file(folder_ / "a", folder_ / "missing"));
}

TEST_F(WriteFile, KnowsTheSamePlaceByAnotherName) {
  fs::create_directories(folder_ / "real/deep");
  fs::create_symlink("real", folder_ / "link");
  fs::create_symlink("real/a", folder_ / "dangling");
  for (const char* name : {"real/a", "link/a", "real/deep/../a", "dangling"}) {
    EXPECT_TRUE(is_same_file(folder_ / name, folder_ / "real/a")) << name;
  }
  for (const char* name : {"a", "real/b", "real/deep/a"}) {
    EXPECT_FALSE(is_same_file(folder_ / name, folder_ / "real/a")) << name;
  }
  EXPECT_TRUE(is_same_file("missing", fs::current_path() / "missing"));
  fs::create_symlink("circle", folder_ / "circle");
  EXPECT_FALSE(is_same_file(folder_ / "circle", folder_ / "circle")) << "nothing is ever there";
}

}  // namespace
}  // namespace kiln::cli
