#include "cache/filesystem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/vfs.h>

#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::cache {
namespace {

using ::testing::HasSubstr;
using Kind = FileSystem::Kind;

struct Case {
  std::uint64_t magic;
  const char* name;
  Kind kind;
};

class KnownFileSystem : public ::testing::TestWithParam<Case> {};

TEST_P(KnownFileSystem, HasItsJournalMode) {
  const auto found = file_system_of_magic(GetParam().magic);
  EXPECT_EQ(found.name, GetParam().name);
  EXPECT_EQ(found.kind, GetParam().kind);
  EXPECT_EQ(found.journal, GetParam().kind == Kind::local ? JournalMode::wal : JournalMode::rollback);
  EXPECT_THAT(found.reason, HasSubstr(GetParam().name));
}

// Magic numbers as in linux/magic.h and the man page of statfs(2).
INSTANTIATE_TEST_SUITE_P(
    Magic, KnownFileSystem,
    ::testing::Values(Case{0xef53, "ext4", Kind::local}, Case{0x58465342, "xfs", Kind::local},
                      Case{0x9123683e, "btrfs", Kind::local}, Case{0x01021994, "tmpfs", Kind::local},
                      Case{0x794c7630, "overlayfs", Kind::local}, Case{0x2fc12fc1, "zfs", Kind::local},
                      Case{0x6969, "nfs", Kind::network}, Case{0xff534d42, "cifs", Kind::network},
                      Case{0xfe534d42, "smb2", Kind::network}, Case{0x517b, "smb", Kind::network},
                      Case{0x0bd00bd0, "lustre", Kind::network}, Case{0x47504653, "gpfs", Kind::network},
                      Case{0x19830326, "beegfs", Kind::network}, Case{0x00c36400, "ceph", Kind::network},
                      Case{0x65735546, "fuse", Kind::network}, Case{0x5346414f, "afs", Kind::network},
                      Case{0x01021997, "9p", Kind::network}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(FileSystem, TakesTheSafeJournalWhereItKnowsNothing) {
  const auto found = file_system_of_magic(0x12345678);
  EXPECT_EQ(found.kind, Kind::unknown);
  EXPECT_EQ(found.journal, JournalMode::rollback);
  EXPECT_EQ(found.name, "0x12345678");
  EXPECT_THAT(found.reason, HasSubstr("does not know file system 0x12345678"));
}

TEST(FileSystem, OfAPathThatDoesNotExistIsThatOfItsParent) {
  const test::TempDir directory;
  struct statfs status{};
  ASSERT_EQ(::statfs(directory.path().c_str(), &status), 0);
  const auto expected = file_system_of_magic(static_cast<std::uint32_t>(status.f_type));
  EXPECT_EQ(file_system_of(directory.path()).name, expected.name);
  EXPECT_EQ(file_system_of(directory.path() / "not" / "there" / "yet").name, expected.name);
  test::write_file(directory.path() / "file", "");
  EXPECT_EQ(file_system_of(directory.path() / "file" / "below").name, expected.name);
}

TEST(FileSystem, NamesTheErrorWhenAPathCannotBeExamined) {
  const auto found = file_system_of(std::filesystem::path("/") / std::string(300, 'x'));
  EXPECT_EQ(found.kind, Kind::unknown);
  EXPECT_EQ(found.journal, JournalMode::rollback);
  EXPECT_THAT(found.reason, HasSubstr("name too long"));
}

TEST(FileSystem, OfProcIsNotLocal) { EXPECT_NE(file_system_of("/proc/self").kind, Kind::local); }

}  // namespace
}  // namespace kiln::cache
