#include "cache/sqlite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <exception>
#include <filesystem>
#include <string>

#include "support/child_process.hpp"
#include "support/temp_dir.hpp"

namespace kiln::cache {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::chrono::milliseconds k_no_wait{0};
constexpr int k_readonly_directory = 1544;  // SQLITE_READONLY_DIRECTORY

class SqliteTest : public ::testing::Test {
 protected:
  SqliteTest() {
    Database::open(file_, Database::Access::build, k_no_wait).execute("CREATE TABLE t(a); INSERT INTO t VALUES(1)");
  }

  const test::TempDir folder_;
  const std::filesystem::path file_ = folder_ / "a.db";
};

TEST_F(SqliteTest, OutOfDescriptorsTheLimitIsNamed) {
#ifdef KILN_SANITIZED
  GTEST_SKIP() << "the sanitizers open a pipe to look at an object";
#endif
  const std::filesystem::path file = file_;
  std::exception_ptr refusal;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  try {
    Database::open(file, Database::Access::read_write, k_no_wait).integer("SELECT a FROM t");
  } catch (...) {
    refusal = std::current_exception();
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_TRUE(refusal);
  try {
    std::rethrow_exception(refusal);
  } catch (const SqliteError& error) {
    EXPECT_EQ(error.fault(), SqliteFault::input_output);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("Too many open files"), HasSubstr("ulimit -n"), Not(HasSubstr("folder"))));
  }
}

// Where the file may be written and its folder may not, no journal can be made: an error of the file system, after
// which nothing is moved aside.
TEST_F(SqliteTest, AFolderThatNoJournalCanBeMadeInIsNoDamage) {
  constexpr uid_t k_other = 54327;
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::chown(file_.c_str(), k_other, k_other), 0);
    ::chmod(folder_.path().c_str(), 0755);
  } else {
    ::chmod(folder_.path().c_str(), 0500);
  }
  const int status = test::ChildProcess([&] {
                       if (root && ::setresuid(k_other, k_other, k_other) != 0) {
                         return 2;
                       }
                       Database database = Database::open(file_, Database::Access::read_write, k_no_wait);
                       try {
                         database.execute("INSERT INTO t VALUES(2)");
                         return 3;
                       } catch (const SqliteError& error) {
                         const std::string said = error.what();
                         return error.fault() == SqliteFault::input_output && error.code() == k_readonly_directory &&
                                        said.find("this user may write the file and its folder") != std::string::npos
                                    ? 0
                                    : 1;
                       }
                     }).wait();
  ::chmod(folder_.path().c_str(), 0700);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace kiln::cache
