#include "cli/interruption.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::cli {
namespace {

class TidyOnSignalTest : public testing::TestWithParam<int> {};

TEST_P(TidyOnSignalTest, RemovesSaysAndEndsAsTheSignalDoes) {
  test::TempDir folder;
  test::write_file(folder / "file", "half");
  std::filesystem::create_directories(folder / "folder/below");
  test::write_file(folder / "folder/below/file", "half");
  test::write_file(folder / "kept", "whole");
  test::write_file(folder / "said", "");
  pid_t child = fork();
  if (child == 0) {
    dup2(open((folder / "said").c_str(), O_WRONLY), STDERR_FILENO);
    TidyOnSignal tidy({folder / "file", folder / "folder"}, [] { return std::string("stopped; go on with X"); });
    kill(getpid(), GetParam());
    for (;;) {
      pause();
    }
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == GetParam()) << status;
  EXPECT_EQ(test::read_file(folder / "said"), "kiln: stopped; go on with X\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "file"));
  EXPECT_EQ(test::read_file(folder / "folder/below/file"), "half") << "no folder is a temporary file";
  EXPECT_EQ(test::read_file(folder / "kept"), "whole");
}

INSTANTIATE_TEST_SUITE_P(Signals, TidyOnSignalTest, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST(TidyOnSignal, HandlersThatOthersPutInPlaceMeanwhileChangeNothing) {
  test::TempDir folder;
  test::write_file(folder / "file", "half");
  pid_t child = fork();
  if (child == 0) {
    TidyOnSignal tidy({folder / "file"});
    std::signal(SIGTERM, [](int) { _exit(4); });  // as NVRTC does
    kill(getpid(), SIGTERM);
    for (;;) {
      pause();
    }
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  EXPECT_FALSE(std::filesystem::exists(folder / "file"));
}

TEST(TidyOnSignal, ASignalThatWaitsAtTheEndIsNotLost) {
  for (int i = 0; i < 20; ++i) {
    pid_t child = fork();
    if (child == 0) {
      {
        TidyOnSignal tidy;
        kill(getpid(), SIGTERM);
      }
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  }
}

TEST(TidyOnSignal, WithoutASignalTouchesNothingAndLeavesTheSignalsAsTheyWere) {
  test::TempDir folder;
  test::write_file(folder / "file", "whole");
  {
    TidyOnSignal tidy({folder / "file"});
  }
  EXPECT_EQ(test::read_file(folder / "file"), "whole");
  struct sigaction now{};
  sigaction(SIGINT, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    EXPECT_EQ(sigismember(&blocked, signal), 0) << signal;
  }
}

TEST(TidyOnSignal, LetsAnIgnoredSignalBeIgnored) {
  std::signal(SIGHUP, SIG_IGN);
  TidyOnSignal tidy;
  raise(SIGHUP);  // as nohup has it
  struct sigaction now{};
  sigaction(SIGHUP, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_IGN);
  std::signal(SIGHUP, SIG_DFL);
}

}  // namespace
}  // namespace kiln::cli
