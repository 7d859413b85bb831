#include "emulation/workspace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "kiln/error.hpp"
#include "support/child_process.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::emulation {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// The workspaces of these tests lie in a folder of their own.
class WorkspaceTest : public ::testing::Test {
 protected:
  WorkspaceTest() { ::setenv("TMPDIR", dir_.path().c_str(), 1); }
  ~WorkspaceTest() override { ::unsetenv("TMPDIR"); }

  bool becomes_empty() const {
    for (int i = 0; i < 1000; ++i) {
      if (fs::is_empty(dir_.path())) {
        return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }

  /// A process that has a workspace with files in it, ended by a signal to it, or to its whole group as a terminal's.
  void end_process_with(int signal, bool whole_group) {
    test::Signal ready;
    test::ChildProcess child([&] {
      ::setpgid(0, 0);
      const Workspace workspace;
      workspace.write("a/b/c.h", "text");
      ready.give();
      while (true) {
        ::pause();
      }
      return 0;
    });
    ASSERT_TRUE(ready.take());
    ASSERT_FALSE(fs::is_empty(dir_.path()));
    ASSERT_EQ(::kill(whole_group ? -child.pid() : child.pid(), signal), 0);
    EXPECT_EQ(child.wait(), -signal);
    EXPECT_TRUE(becomes_empty()) << "after signal " << signal;
  }

  test::TempDir dir_;
};

TEST_F(WorkspaceTest, IsPrivateAndGoesWithItsObject) {
  {
    const Workspace workspace;
    EXPECT_EQ(workspace.path().parent_path(), dir_.path());
    struct stat status{};
    ASSERT_EQ(::stat(workspace.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0700U);
    workspace.write("a/b.h", "text");
    EXPECT_EQ(workspace.read("a/b.h"), "text");
  }
  EXPECT_TRUE(fs::is_empty(dir_.path()));
}

TEST_F(WorkspaceTest, IsGoneAfterTheProcessWasEnded) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
    end_process_with(signal, false);
    end_process_with(signal, true);
  }
}

TEST_F(WorkspaceTest, GoesThoughAForkedProcessHoldsTheGuardsSocket) {
  test::Signal end;
  std::optional<test::ChildProcess> child;
  {
    const Workspace workspace;
    child.emplace([&] {
      ::alarm(60);
      return end.take() ? 0 : 1;
    });
  }
  EXPECT_TRUE(fs::is_empty(dir_.path()));
  end.give();
  EXPECT_EQ(child->wait(), 0);
}

TEST_F(WorkspaceTest, NamesTheFolderThatCannotBeWrittenAndWhy) {
  test::write_file(dir_ / "file", "");
  ::setenv("TMPDIR", "/proc/self", 1);  // a folder in which nobody can make one
  try {
    const Workspace workspace;
    FAIL() << workspace.path();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::host_compiler);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'/proc/self'"), HasSubstr("TMPDIR names another place")));
  }
}

// The guard tells where the folder is in a line, and what it tells is removed.
TEST_F(WorkspaceTest, RefusesAFolderWhoseNameHasALineBreak) {
  fs::create_directory(dir_ / "kept");
  test::write_file(dir_ / "kept/file", "somebody's work");
  fs::create_directory(dir_ / "kept\n");
  ::setenv("TMPDIR", (dir_ / "kept\n").c_str(), 1);
  try {
    const Workspace workspace;
    FAIL() << workspace.path();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::host_compiler);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("line break"), HasSubstr("TMPDIR names another place")));
  }
  EXPECT_EQ(test::read_file(dir_ / "kept/file"), "somebody's work");
}

TEST_F(WorkspaceTest, TakesNoProgramsFromTheCurrentFolder) {
  for (const char* name : {"mktemp", "rm"}) {
    test::write_file(dir_ / name, "#!/bin/sh\necho planted > \"$0.ran\"\nexit 1\n");
    fs::permissions(dir_ / name, fs::perms::owner_all);
  }
  test::ChildProcess child([&] {
    fs::current_path(dir_.path());
    ::setenv("PATH", "", 1);
    const Workspace workspace;
    return 0;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_FALSE(fs::exists(dir_ / "mktemp.ran"));
  EXPECT_FALSE(fs::exists(dir_ / "rm.ran"));
}

TEST_F(WorkspaceTest, KeepsFilesInside) {
  const Workspace workspace;
  EXPECT_THROW(workspace.write("../../out.h", ""), Error);
  EXPECT_THROW(workspace.write("/tmp/out.h", ""), Error);
}

}  // namespace
}  // namespace kiln::emulation
