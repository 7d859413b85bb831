// A cubin is code: where someone else could have written it, nothing is read from it and nothing written to it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service_fixture.hpp"

namespace kiln::test {
namespace {

using std::filesystem::perms;

class Planted : public ServiceTest {
 protected:
  /// A cache with kernel 1 in it, as an attacker may have made it.
  void SetUp() override { ask_anew(1); }
  void expect_refused() {
    const auto before = read_file(database());
    Service service(options());
    EXPECT_EQ(ask(service, 1).outcome, Outcome::compiled) << "not what was planted";
    EXPECT_EQ(ask(service, 1).outcome, Outcome::memory);
    EXPECT_EQ(ask(service, 2).outcome, Outcome::compiled);
    const Stats stats = service.stats();
    EXPECT_EQ(stats.degraded, 1U);
    EXPECT_EQ(stats.puts_lost, 2U);
    EXPECT_EQ(messages_.count(), 1U);
    EXPECT_EQ(read_file(database()), before);
    EXPECT_FALSE(std::filesystem::exists(beside("-wal")));
  }
  mode_t mode(const std::filesystem::path& path) const {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }
};

TEST_F(Planted, ADirectoryThatEveryoneMayWrite) {
  std::filesystem::permissions(folder_ / "cache", perms(0777));
  expect_refused();
}

TEST_F(Planted, ADatabaseThatEveryoneMayWrite) {
  std::filesystem::permissions(database(), perms(0666));
  expect_refused();
}

TEST_F(Planted, AParentThatEveryoneMayWrite) {
  std::filesystem::permissions(folder_.path(), perms(0777));
  expect_refused();
  std::filesystem::permissions(folder_.path(), perms(01777));
  EXPECT_EQ(ask_anew(1), Outcome::disk) << "with the sticky bit nobody can exchange the cache, as in /tmp";
}

TEST_F(Planted, AnotherUsersDirectoryOrDatabase) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  ASSERT_EQ(::chown(database().c_str(), 54325, 54325), 0);
  expect_refused();
  ASSERT_EQ(::chown(database().c_str(), 0, 0), 0);
  ASSERT_EQ(::chown((folder_ / "cache").c_str(), 54325, 54325), 0);
  const std::size_t said = messages_.count();
  EXPECT_EQ(ask_anew(1), Outcome::compiled);
  EXPECT_EQ(messages_.count(), said + 1);
}

TEST_F(Planted, ALinkOfAnotherUsers) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a link away";
  }
  std::filesystem::rename(folder_ / "cache", folder_ / "real");
  std::filesystem::create_directory_symlink(folder_ / "real", folder_ / "cache");
  EXPECT_EQ(ask_anew(1), Outcome::disk) << "a link of one's own is fine";
  ASSERT_EQ(::lchown((folder_ / "cache").c_str(), 54325, 54325), 0);
  expect_refused();
}

TEST_F(Planted, WhateverTheUmaskOthersCannotReadTheCache) {
  std::filesystem::remove_all(folder_ / "cache");
  for (mode_t umask : {0000U, 0777U, 0022U}) {
    const mode_t before = ::umask(umask);
    {
      Service service(options());
      EXPECT_EQ(ask(service, 1).outcome, Outcome::compiled);
      EXPECT_EQ(service.stats().puts, 1U);
      EXPECT_EQ(mode(folder_ / "cache"), 0700U);
      for (const char* suffix : {"", "-wal", "-shm"}) {
        EXPECT_EQ(mode(beside(suffix)), 0600U) << suffix << " with umask " << umask;
      }
    }
    EXPECT_EQ(mode(folder_ / "cache" / "kiln.stats"), 0600U) << umask;
    std::filesystem::remove_all(folder_ / "cache");
    ::umask(before);
  }
  EXPECT_EQ(messages_.count(), 0U);
}

}  // namespace
}  // namespace kiln::test
