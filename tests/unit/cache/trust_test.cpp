#include "cache/trust.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <thread>
#include <vector>

#include "cache/private_group.hpp"
#include "support/child_process.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::cache {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Verdict = Trust::Verdict;

constexpr uid_t k_other = 54321;  // nobody's on any machine that runs these tests

class TrustTest : public ::testing::Test {
 protected:
  std::filesystem::path make(const char* name, mode_t mode) {
    const auto path = root_.path() / name;
    std::filesystem::create_directory(path);
    ::chmod(path.c_str(), mode);
    return path;
  }
  std::filesystem::path make_file(const std::filesystem::path& path, mode_t mode) {
    test::write_file(path, "content");
    ::chmod(path.c_str(), mode);
    return path;
  }
  /// Gives a path to a group that is not the caller's private one. False where this user is in no other.
  bool share(const std::filesystem::path& path) {
    if (uid_ == 0) {
      return ::chown(path.c_str(), static_cast<uid_t>(-1), k_other) == 0;
    }
    std::vector<gid_t> groups(1024);
    const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
    groups.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    for (const gid_t group : groups) {
      if (!is_private_group(group, uid_) && ::chown(path.c_str(), static_cast<uid_t>(-1), group) == 0) {
        return true;
      }
    }
    return false;
  }
  mode_t mode_of(const std::filesystem::path& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }

  const test::TempDir root_;
  const uid_t uid_ = ::geteuid();
};

class UmaskGuard {
 public:
  explicit UmaskGuard(mode_t mask) : before_(::umask(mask)) {}
  ~UmaskGuard() { ::umask(before_); }

 private:
  mode_t before_;
};

#define SKIP_UNLESS_ROOT()                           \
  if (uid_ != 0) {                                   \
    GTEST_SKIP() << "only root can give files away"; \
  }                                                  \
  static_assert(true)

#define SHARE_OR_SKIP(path)                                        \
  if (!share(path)) {                                              \
    GTEST_SKIP() << "this user is in no group that others are in"; \
  }                                                                \
  static_assert(true)

TEST_F(TrustTest, TakesADirectoryOfOnesOwn) {
  const auto path = make("cache", 0700);
  const auto trust = trust_directory(path, Owner::caller, uid_);
  EXPECT_TRUE(trust.trusted()) << trust.reason;
  EXPECT_EQ(trust.path, path);
  EXPECT_TRUE(trust_directory(make("readable", 0755), Owner::caller, uid_).trusted());
}

TEST_F(TrustTest, RefusesADirectoryOthersMayWrite) {
  const auto shared = make("group", 0770);
  SHARE_OR_SKIP(shared);
  const auto group = trust_directory(shared, Owner::caller, uid_);
  EXPECT_EQ(group.verdict, Verdict::refused);
  EXPECT_THAT(group.reason,
              AllOf(HasSubstr((root_.path() / "group").string()), HasSubstr("mode 0770"),
                    HasSubstr("owner " + std::to_string(uid_)), HasSubstr("its group"), HasSubstr("chmod go-w")));
  const auto world = trust_directory(make("world", 0703), Owner::caller, uid_);
  EXPECT_EQ(world.verdict, Verdict::refused);
  EXPECT_THAT(world.reason, HasSubstr("everyone"));
  EXPECT_EQ(trust_directory(make("sticky", 01777), Owner::caller, uid_).verdict, Verdict::refused);
}

TEST_F(TrustTest, RefusesADirectoryOfSomeoneElse) {
  const auto path = make("cache", 0700);
  const auto trust = trust_directory(path, Owner::caller, k_other);
  EXPECT_EQ(trust.verdict, Verdict::refused);
  EXPECT_THAT(trust.reason, AllOf(HasSubstr(root_.path().string()), HasSubstr("owner " + std::to_string(uid_)),
                                  HasSubstr("user 54321"), HasSubstr("KILN_CACHE_DIR")));
}

TEST_F(TrustTest, RefusesADirectoryThatAnotherUserPutInTheWay) {
  SKIP_UNLESS_ROOT();
  const auto path = make("cache", 0700);
  ASSERT_EQ(::chown(path.c_str(), k_other, k_other), 0);
  EXPECT_EQ(trust_directory(path, Owner::caller, 0).verdict, Verdict::refused);
  EXPECT_EQ(trust_directory(path, Owner::root_or_caller, 0).verdict, Verdict::refused);
  EXPECT_EQ(make_directory(path, 0).verdict, Verdict::refused);
}

TEST_F(TrustTest, RefusesAParentOthersMayWriteUnlessSticky) {
  const auto parent = make("parent", 0777);
  std::filesystem::create_directory(parent / "cache");
  ::chmod((parent / "cache").c_str(), 0700);
  const auto trust = trust_directory(parent / "cache", Owner::caller, uid_);
  EXPECT_EQ(trust.verdict, Verdict::refused);
  EXPECT_THAT(trust.reason, HasSubstr("'" + parent.string() + "' (mode 0777"));
  ::chmod(parent.c_str(), 01777);
  EXPECT_TRUE(trust_directory(parent / "cache", Owner::caller, uid_).trusted());
  SHARE_OR_SKIP(parent);
  ::chmod(parent.c_str(), 0720);
  EXPECT_EQ(trust_directory(parent / "cache", Owner::caller, uid_).verdict, Verdict::refused);
}

// Ubuntu's users have a group of their own and the umask 002.
TEST_F(TrustTest, TakesWhatOnlyThePrivateGroupMayWrite) {
  if (!is_private_group(::getegid(), uid_)) {
    GTEST_SKIP() << "this user has no private group";
  }
  const auto parent = make("parent", 0775);
  std::filesystem::create_directory(parent / "cache");
  ::chmod((parent / "cache").c_str(), 0770);
  const auto trust = trust_directory(parent / "cache", Owner::caller, uid_);
  EXPECT_TRUE(trust.trusted()) << trust.reason;
  const auto pack = make_file(parent / "app.kilnpack", 0664);
  EXPECT_TRUE(trust_database(pack, Owner::root_or_caller, uid_).trusted());
  ::chmod(pack.c_str(), 0666);
  EXPECT_EQ(trust_database(pack, Owner::root_or_caller, uid_).verdict, Verdict::refused);
  ::chmod(parent.c_str(), 0777);
  EXPECT_EQ(trust_directory(parent / "cache", Owner::caller, uid_).verdict, Verdict::refused);
}

TEST_F(TrustTest, AnAccessListOpensAPrivateGroup) {
  const auto path = make("cache", 0770);
  // As setfacl -m u:54321:rwx makes it: version 2, then tag, permissions and id of each entry (acl(5), little-endian).
  struct Entry {
    std::uint16_t tag;
    std::uint16_t permissions;
    std::uint32_t id;
  };
  struct List {
    std::uint32_t version = 2;
    std::array<Entry, 5> entries{{{0x01, 7, ~0u}, {0x02, 7, k_other}, {0x04, 0, ~0u}, {0x10, 7, ~0u}, {0x20, 0, ~0u}}};
  };
  const List list;
  if (::setxattr(path.c_str(), "system.posix_acl_access", &list, sizeof(list), 0) != 0) {
    GTEST_SKIP() << "this file system has no access control lists";
  }
  ASSERT_EQ(mode_of(path), 0770u) << "the mode alone does not tell";
  EXPECT_EQ(trust_directory(path, Owner::caller, uid_).verdict, Verdict::refused);
}

TEST_F(TrustTest, RefusesAParentOfSomeoneElse) {
  SKIP_UNLESS_ROOT();
  const auto parent = make("parent", 0755);
  std::filesystem::create_directory(parent / "cache");
  ASSERT_EQ(::chown(parent.c_str(), k_other, k_other), 0);
  EXPECT_EQ(trust_directory(parent / "cache", Owner::caller, 0).verdict, Verdict::refused);
  EXPECT_EQ(make_directory(parent / "new", 0).verdict, Verdict::refused);
  EXPECT_FALSE(std::filesystem::exists(parent / "new"));
}

TEST_F(TrustTest, ResolvesLinksAndChecksWhereTheyLead) {
  const auto real = make("real", 0700);
  const auto link = root_.path() / "link";
  std::filesystem::create_symlink("real", link);
  const auto trust = trust_directory(link, Owner::caller, uid_);
  EXPECT_TRUE(trust.trusted()) << trust.reason;
  EXPECT_EQ(trust.path, real);
  const auto absolute = root_.path() / "absolute";
  std::filesystem::create_symlink(link, absolute);
  EXPECT_EQ(trust_directory(absolute / ".." / "real" / ".", Owner::caller, uid_).path, real);
  ::chmod(real.c_str(), 0777);
  EXPECT_EQ(trust_directory(link, Owner::caller, uid_).verdict, Verdict::refused);
}

TEST_F(TrustTest, RefusesALinkOfSomeoneElse) {
  SKIP_UNLESS_ROOT();
  make("real", 0700);
  const auto link = root_.path() / "link";
  std::filesystem::create_symlink("real", link);
  ASSERT_EQ(::lchown(link.c_str(), k_other, k_other), 0);
  const auto trust = trust_directory(link, Owner::caller, 0);
  EXPECT_EQ(trust.verdict, Verdict::refused);
  EXPECT_THAT(trust.reason, HasSubstr(link.string()));
}

TEST_F(TrustTest, TellsWhatIsNotThereFromWhatCannotBeUsed) {
  EXPECT_EQ(trust_directory(root_.path() / "none", Owner::caller, uid_).verdict, Verdict::absent);
  EXPECT_EQ(trust_directory(root_.path() / "none" / "below", Owner::caller, uid_).verdict, Verdict::absent);
  std::filesystem::create_symlink("nowhere", root_.path() / "dangling");
  EXPECT_EQ(trust_directory(root_.path() / "dangling", Owner::caller, uid_).verdict, Verdict::absent);

  std::filesystem::create_symlink("loop", root_.path() / "loop");
  const auto loop = trust_directory(root_.path() / "loop", Owner::caller, uid_);
  EXPECT_EQ(loop.verdict, Verdict::failed);
  EXPECT_THAT(loop.reason, AllOf(HasSubstr("loop"), HasSubstr("symbolic links")));

  const auto file = make_file(root_.path() / "file", 0600);
  EXPECT_EQ(trust_directory(file, Owner::caller, uid_).verdict, Verdict::failed);
  EXPECT_EQ(trust_directory(file / "below", Owner::caller, uid_).verdict, Verdict::failed);
  EXPECT_EQ(make_directory(file / "below", uid_).verdict, Verdict::failed);
  const auto long_name = trust_directory(root_.path() / std::string(300, 'x'), Owner::caller, uid_);
  EXPECT_EQ(long_name.verdict, Verdict::failed);
  EXPECT_THAT(long_name.reason, HasSubstr("name too long"));
  EXPECT_FALSE(trust_directory("", Owner::caller, uid_).trusted() &&
               trust_directory("", Owner::caller, k_other).trusted());
}

TEST_F(TrustTest, KnowsTheRootDirectory) {
  EXPECT_EQ(trust_directory("/", Owner::caller, k_other).verdict, Verdict::refused);
  EXPECT_TRUE(trust_directory("/", Owner::root_or_caller, k_other).trusted());
}

TEST_F(TrustTest, MakesDirectoriesPrivateWhateverTheUmask) {
  for (const mode_t mask : {0000u, 0022u, 0777u}) {
    const auto top = root_.path() / std::to_string(mask);
    const UmaskGuard guard(mask);
    const auto trust = make_directory(top / "a" / "b", uid_);
    EXPECT_TRUE(trust.trusted()) << trust.reason;
    EXPECT_EQ(trust.path, top / "a" / "b");
    for (const auto& path : {top, top / "a", top / "a" / "b"}) {
      EXPECT_EQ(mode_of(path), 0700u) << path << " umask " << mask;
    }
    EXPECT_TRUE(make_directory(top / "a" / "b" / "", uid_).trusted());
  }
}

TEST_F(TrustTest, MakesDirectoriesWhereALinkLeads) {
  std::filesystem::create_symlink("target/below", root_.path() / "link");
  EXPECT_EQ(make_directory(root_.path() / "link", uid_).path, root_.path() / "target" / "below");
}

TEST_F(TrustTest, NamesThePathThatCannotBeMade) {
  SKIP_UNLESS_ROOT();
  // As a user who may go through the directory but not write it.
  test::ChildProcess child([&] {
    ::chmod(root_.path().c_str(), 0755);
    if (::setresuid(k_other, k_other, k_other) != 0) {
      return 2;
    }
    const auto trust = make_directory(root_.path() / "cache", k_other);
    return trust.verdict == Verdict::failed && trust.reason.find("/cache'") != std::string::npos &&
                   trust.reason.find("KILN_CACHE_DIR") != std::string::npos
               ? 0
               : 1;
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(TrustTest, OutOfDescriptorsNoOtherPlaceIsTheRemedy) {
  const auto path = make("cache", 0700);
  const auto file = make_file(path / "kiln.db", 0600);
  const uid_t uid = uid_;  // without descriptors the sanitizers cannot look at `this`
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::vector<Trust> found{trust_directory(path, Owner::caller, uid), trust_database(file, Owner::caller, uid),
                                 trust_database(file, Owner::root_or_caller, uid), make_directory(path / "new", uid),
                                 make_database(path / "new.db", uid)};
  ::setrlimit(RLIMIT_NOFILE, &before);
  for (const auto& trust : found) {
    EXPECT_EQ(trust.verdict, Verdict::failed);
    EXPECT_THAT(trust.reason, AllOf(HasSubstr("too many files are open"), HasSubstr("ulimit -n"),
                                    Not(HasSubstr("KILN_CACHE_DIR")), Not(HasSubstr("folder of your own"))));
  }
}

TEST_F(TrustTest, TakesADatabaseOfOnesOwn) {
  const auto file = make_file(root_.path() / "kiln.db", 0600);
  const auto trust = trust_database(file, Owner::caller, uid_);
  EXPECT_TRUE(trust.trusted()) << trust.reason;
  EXPECT_EQ(trust.path, file);
  EXPECT_EQ(trust_database(root_.path() / "none", Owner::caller, uid_).verdict, Verdict::absent);
}

TEST_F(TrustTest, RefusesADatabaseOthersMayWrite) {
  const auto file = make_file(root_.path() / "kiln.db", 0660);
  SHARE_OR_SKIP(file);
  EXPECT_EQ(trust_database(file, Owner::caller, uid_).verdict, Verdict::refused);
  EXPECT_EQ(trust_database(file, Owner::root_or_caller, uid_).verdict, Verdict::refused);
  EXPECT_EQ(make_database(file, uid_).verdict, Verdict::refused);
  ::chmod(file.c_str(), 0644);
  EXPECT_TRUE(trust_database(file, Owner::caller, uid_).trusted());
}

TEST_F(TrustTest, RefusesADatabaseInADirectoryOthersMayWrite) {
  const auto directory = make("sticky", 01777);
  const auto file = make_file(directory / "kiln.db", 0600);
  EXPECT_EQ(trust_database(file, Owner::caller, uid_).verdict, Verdict::refused);
  EXPECT_TRUE(trust_database(file, Owner::root_or_caller, uid_).trusted()) << "a pack is opened without its siblings";
  ::chmod(directory.c_str(), 0777);
  EXPECT_EQ(trust_database(file, Owner::root_or_caller, uid_).verdict, Verdict::refused);
}

TEST_F(TrustTest, RefusesWhatStandsBesideADatabase) {
  const auto file = make_file(root_.path() / "kiln.db", 0600);
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    const auto sibling = make_file(file.string() + suffix, 0622);
    const auto trust = trust_database(file, Owner::caller, uid_);
    EXPECT_EQ(trust.verdict, Verdict::refused) << suffix;
    EXPECT_THAT(trust.reason, HasSubstr(sibling.string()));
    ::chmod(sibling.c_str(), 0600);
    EXPECT_TRUE(trust_database(file, Owner::caller, uid_).trusted());
    std::filesystem::remove(sibling);
    make_file(root_.path() / "elsewhere", 0600);
    std::filesystem::create_symlink("elsewhere", sibling);
    EXPECT_EQ(trust_database(file, Owner::caller, uid_).verdict, Verdict::refused) << "a link, " << suffix;
    std::filesystem::remove(sibling);
  }
}

TEST_F(TrustTest, RefusesADatabaseOfSomeoneElse) {
  SKIP_UNLESS_ROOT();
  const auto file = make_file(root_.path() / "kiln.db", 0600);
  ASSERT_EQ(::chown(file.c_str(), k_other, k_other), 0);
  EXPECT_EQ(trust_database(file, Owner::caller, 0).verdict, Verdict::refused);
  EXPECT_EQ(trust_database(file, Owner::root_or_caller, 0).verdict, Verdict::refused);
}

TEST_F(TrustTest, TakesAPackOfRootButNotAsAUserCache) {
  SKIP_UNLESS_ROOT();
  const auto file = make_file(root_.path() / "app.kilnpack", 0644);
  EXPECT_TRUE(trust_database(file, Owner::root_or_caller, k_other).trusted());
  EXPECT_EQ(trust_database(file, Owner::caller, k_other).verdict, Verdict::refused);
}

TEST_F(TrustTest, RefusesWhatIsNoRegularFileWithoutBlocking) {
  const auto fifo = root_.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(trust_database(fifo, Owner::caller, uid_).verdict, Verdict::refused);
  EXPECT_EQ(trust_database(make("directory", 0700), Owner::caller, uid_).verdict, Verdict::refused);
}

TEST_F(TrustTest, MakesDatabasesPrivateWhateverTheUmask) {
  for (const mode_t mask : {0000u, 0022u, 0777u}) {
    const UmaskGuard guard(mask);
    const auto file = root_.path() / (std::to_string(mask) + ".db");
    const auto trust = make_database(file, uid_);
    EXPECT_TRUE(trust.trusted()) << trust.reason;
    EXPECT_EQ(trust.path, file);
    EXPECT_EQ(mode_of(file), 0600u);
  }
}

TEST_F(TrustTest, LeavesADatabaseThatIsThereAlone) {
  const auto file = make_file(root_.path() / "kiln.db", 0640);
  EXPECT_TRUE(make_database(file, uid_).trusted());
  EXPECT_EQ(test::read_file(file), "content");
  EXPECT_EQ(mode_of(file), 0640u);
  EXPECT_EQ(make_database(root_.path() / "none" / "kiln.db", uid_).verdict, Verdict::absent);
}

TEST_F(TrustTest, ManyThreadsMakeOneCache) {
  std::vector<std::thread> threads;
  std::vector<Trust> found(16);
  for (auto& trust : found) {
    threads.emplace_back([&] {
      trust = make_directory(root_.path() / "x" / "y", uid_);
      if (trust.trusted()) {
        trust = make_database(trust.path / "kiln.db", uid_);
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  for (const auto& trust : found) {
    EXPECT_TRUE(trust.trusted()) << trust.reason;
  }
}

// SQLite's locks are POSIX locks, which a process loses when it closes any ordinary descriptor of the file.
TEST_F(TrustTest, ACheckKeepsTheLocksThisProcessHasOnTheFile) {
  const auto file = make_file(root_.path() / "kiln.db", 0600);
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  struct flock lock{};
  lock.l_type = F_WRLCK;
  ASSERT_EQ(::fcntl(descriptor, F_SETLK, &lock), 0);
  EXPECT_TRUE(trust_database(file, Owner::caller, uid_).trusted());
  EXPECT_TRUE(make_database(file, uid_).trusted());
  test::ChildProcess child([&] {
    struct flock wanted{};
    wanted.l_type = F_WRLCK;
    ::fcntl(descriptor, F_GETLK, &wanted);
    return wanted.l_type == F_WRLCK ? 0 : 1;  // F_UNLCK: nobody holds it
  });
  EXPECT_EQ(child.wait(), 0);
  ::close(descriptor);
}

}  // namespace
}  // namespace kiln::cache
