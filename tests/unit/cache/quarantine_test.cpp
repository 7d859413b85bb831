#include "cache/quarantine.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "support/child_process.hpp"
#include "support/temp_dir.hpp"

namespace kiln::cache {
namespace {

using std::chrono::milliseconds;

TEST(DirectoryLock, IsHeldByOneAtATime) {
  const test::TempDir folder;
  std::optional<DirectoryLock> first;
  first.emplace(folder.path(), milliseconds(0));
  EXPECT_TRUE(first->held());
  EXPECT_FALSE(DirectoryLock(folder.path(), milliseconds(1)).held());
  EXPECT_FALSE(DirectoryLock(folder.path(), milliseconds(-1)).held());
  first.reset();
  EXPECT_TRUE(DirectoryLock(folder.path(), milliseconds(0)).held());
}

TEST(DirectoryLock, IsWaitedForAsLongAsItTakesWhenAskedTo) {
  const test::TempDir folder;
  std::optional<DirectoryLock> first;
  first.emplace(folder.path(), milliseconds(0));
  std::thread holder([&] {
    std::this_thread::sleep_for(milliseconds(100));
    first.reset();
  });
  EXPECT_TRUE(DirectoryLock(folder.path(), milliseconds::max()).held());
  holder.join();
}

TEST(DirectoryLock, IsNotKeptByAChildThatWasForkedMeanwhile) {
  const test::TempDir folder;
  std::optional<DirectoryLock> lock;
  lock.emplace(folder.path(), milliseconds(0));
  ASSERT_TRUE(lock->held());
  const test::ChildProcess child([] {
    ::pause();
    return 0;
  });
  lock.reset();
  EXPECT_TRUE(DirectoryLock(folder.path(), milliseconds(0)).held());
}

TEST(DirectoryLock, HoldsNothingWithoutADirectory) {
  const test::TempDir folder;
  EXPECT_FALSE(DirectoryLock(folder / "none", milliseconds(0)).held());
}

}  // namespace
}  // namespace kiln::cache
