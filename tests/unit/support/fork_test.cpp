#include "support/fork.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kiln::support {
namespace {

TEST(ForkGeneration, ChangesInTheChildAlone) {
  std::uint64_t before = fork_generation();
  pid_t child = fork();
  if (child == 0) {
    _exit(fork_generation() != before ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(fork_generation(), before);
}

}  // namespace
}  // namespace kiln::support
