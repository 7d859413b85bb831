#include "cache/wait_budget.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <thread>

#include "cache/vfs.hpp"

namespace kiln::cache {
namespace {

using std::chrono::microseconds;

int sleep_us(int asked) {
  sqlite3_vfs* vfs = sqlite3_vfs_find(vfs_for(FileUse::read_write));
  return vfs->xSleep(vfs, asked);
}

TEST(WaitBudget, IsUsedUp) {
  const WaitBudget budget(microseconds(3000));
  EXPECT_GE(sleep_us(1000), 1000);
  EXPECT_GE(sleep_us(5000), 2000);
  EXPECT_EQ(sleep_us(1), 0);
}

TEST(WaitBudget, EndsWithItsScopeAndIsNoMoreThanTheOuterOne) {
  const WaitBudget outer(microseconds(3000));
  {
    const WaitBudget inner(microseconds(1000));
    EXPECT_GE(sleep_us(9000), 1000);
    EXPECT_EQ(sleep_us(1), 0);
  }
  {
    const WaitBudget inner(microseconds(9000));
    EXPECT_GE(sleep_us(9000), 2000);
    EXPECT_EQ(sleep_us(1), 0) << "the outer one is used up by both";
  }
  EXPECT_EQ(sleep_us(1), 0);
}

TEST(WaitBudget, IsTheThreads) {
  const WaitBudget budget(microseconds(0));
  int slept = 0;
  std::thread([&slept] { slept = sleep_us(10); }).join();
  EXPECT_GE(slept, 10);
  EXPECT_EQ(sleep_us(10), 0);
}

TEST(Vfs, IsMadeOnceForEachUseAndNotTheDefault) {
  EXPECT_STREQ(vfs_for(FileUse::read_write), vfs_for(FileUse::read_write));
  EXPECT_STREQ(vfs_for(FileUse::read_only), vfs_for(FileUse::read_only));
  EXPECT_STRNE(vfs_for(FileUse::read_only), vfs_for(FileUse::read_write));
  EXPECT_STRNE(sqlite3_vfs_find(nullptr)->zName, vfs_for(FileUse::read_write));
}

}  // namespace
}  // namespace kiln::cache
