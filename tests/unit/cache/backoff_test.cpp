#include "cache/backoff.hpp"

#include <gtest/gtest.h>

namespace kiln::cache {
namespace {

using std::chrono::milliseconds;

TEST(Backoff, GrowsToItsLimitAndStartsOverAfterASuccess) {
  const auto now = Backoff::Clock::now();
  Backoff backoff;
  EXPECT_TRUE(backoff.over(now));
  for (int ms : {250, 500, 1000, 2000, 4000, 5000, 5000}) {
    EXPECT_EQ(backoff.extend(now), milliseconds(ms));
    EXPECT_FALSE(backoff.over(now + milliseconds(ms - 1)));
    EXPECT_TRUE(backoff.over(now + milliseconds(ms)));
  }
  backoff.reset();
  EXPECT_TRUE(backoff.over(now));
  EXPECT_EQ(backoff.extend(now), milliseconds(250));
}

}  // namespace
}  // namespace kiln::cache
