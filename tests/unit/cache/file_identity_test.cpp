#include "cache/file_identity.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::cache {
namespace {

std::int64_t mtime_after(const std::filesystem::path& file, std::int64_t seconds) {
  const timespec time{seconds, 5};
  const timespec times[]{time, time};
  EXPECT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  return state_of(file).value().mtime_ns;
}

TEST(FileState, TellsTimesThatNanosecondsDoNotReachInTheirOrder) {
  const test::TempDir folder;
  const auto file = folder / "file";
  test::write_file(file, "");
  const std::int64_t now = mtime_after(file, 1'700'000'000);
  EXPECT_EQ(now, 1'700'000'000'000'000'005);
  EXPECT_GT(mtime_after(file, 10'000'000'000), now) << "the year 2286";
  EXPECT_LT(mtime_after(file, -1'000'000'000), now);
}

TEST(FileState, IsAbsentWithoutAFile) {
  const test::TempDir folder;
  EXPECT_FALSE(state_of(folder / "none"));
}

TEST(FileState, AnotherFileOfTheSameNameIsAnother) {
  const test::TempDir folder;
  const auto file = folder / "file";
  test::write_file(file, "");
  test::write_file(folder / "other", "");
  const FileState before = state_of(file).value();
  std::filesystem::rename(folder / "other", file);
  EXPECT_NE(state_of(file).value().identity, before.identity);
}

}  // namespace
}  // namespace kiln::cache
