#include "kiln/text_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <exception>

#include "kiln/error.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

std::string message_of(const std::exception_ptr& refusal) {
  if (!refusal) {
    ADD_FAILURE() << "nothing was refused";
    return {};
  }
  try {
    std::rethrow_exception(refusal);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::file_unreadable);
    return error.what();
  }
}

std::string refusal_of(const fs::path& file, std::uint64_t most = k_most_text_bytes) {
  std::exception_ptr refusal;
  try {
    read_text_file(file, "plan", most);
  } catch (...) {
    refusal = std::current_exception();
  }
  return message_of(refusal);
}

std::string expected(const fs::path& file, const std::string& problem) {
  return "cannot read plan '" + file.string() + "': " + problem;
}

class TextFileTest : public ::testing::Test {
 protected:
  test::TempDir dir_;
};

TEST_F(TextFileTest, GivesEveryByte) {
  std::string text(100000, 'x');
  text[17] = '\0';
  test::write_file(dir_ / "a", text);
  EXPECT_EQ(read_text_file(dir_ / "a", "plan"), text);
  test::write_file(dir_ / "empty", "");
  EXPECT_EQ(read_text_file(dir_ / "empty", "plan"), "");
  fs::create_symlink("a", dir_ / "link");
  EXPECT_EQ(read_text_file(dir_ / "link", "plan"), text);
}

TEST_F(TextFileTest, LeavesOutTheByteOrderMarkAtTheBegin) {
  const std::string mark = "\xEF\xBB\xBF";
  test::write_file(dir_ / "a", mark + "text" + mark);
  EXPECT_EQ(read_text_file(dir_ / "a", "plan"), "text" + mark);
  test::write_file(dir_ / "a", mark);
  EXPECT_EQ(read_text_file(dir_ / "a", "plan"), "");
  test::write_file(dir_ / "a", mark + mark);
  EXPECT_EQ(read_text_file(dir_ / "a", "plan"), mark) << "once";
  test::write_file(dir_ / "a", mark.substr(0, 2));
  EXPECT_EQ(read_text_file(dir_ / "a", "plan"), mark.substr(0, 2));
}

TEST_F(TextFileTest, ReadsFilesThatDoNotKnowTheirSize) {
  EXPECT_NE(read_text_file("/proc/self/status", "plan").find("\nPid:"), std::string::npos);
}

TEST_F(TextFileTest, RefusesAllThatIsNoRegularFile) {
  EXPECT_EQ(refusal_of(dir_.path()), expected(dir_.path(), "it is a folder; name a regular file"));
  ASSERT_EQ(::mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal_of(dir_ / "pipe"), expected(dir_ / "pipe", "it is a pipe; name a regular file"));
  EXPECT_EQ(refusal_of("/dev/zero"), expected("/dev/zero", "it is a device; name a regular file"));
  int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, (dir_ / "socket").c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(refusal_of(dir_ / "socket"), expected(dir_ / "socket", "it is a socket; name a regular file"));
  ::close(socket);
}

TEST_F(TextFileTest, SaysPlainlyWhyAndWhatToDo) {
  EXPECT_EQ(refusal_of(dir_ / "none"), expected(dir_ / "none", "there is no such file or folder; check the name"));
  test::write_file(dir_ / "file", "x");
  EXPECT_EQ(refusal_of(dir_ / "file/below"),
            expected(dir_ / "file/below", "a part of its path is no folder; check the name"));
  fs::create_symlink("loop", dir_ / "loop");
  EXPECT_EQ(refusal_of(dir_ / "loop"),
            expected(dir_ / "loop", "its symbolic links lead in a circle; mend the links or name the file itself"));
  EXPECT_EQ(refusal_of(""), expected("", "the name is empty; give one"));
}

TEST_F(TextFileTest, NamesTheLengthOfALongName) {
  std::string said = refusal_of(dir_ / std::string(300, 'n'));
  EXPECT_NE(said.find("nn…nn"), std::string::npos) << said;
  EXPECT_NE(said.find("bytes): its name is too long: 255 bytes a part"), std::string::npos) << said;
}

TEST_F(TextFileTest, RefusesANulInTheNameThatWouldCutIt) {
  test::write_file(dir_ / "a", "x");
  std::string said = refusal_of(dir_ / std::string("a\0b", 3));
  EXPECT_NE(said.find("/a\\x00b': the name holds a NUL character"), std::string::npos) << said;
}

TEST_F(TextFileTest, RefusesWhatThisUserMayNotRead) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may read everything";
  }
  test::write_file(dir_ / "secret", "x");
  ::chmod((dir_ / "secret").c_str(), 0);
  EXPECT_NE(refusal_of(dir_ / "secret").find("permission is denied to this user; change"), std::string::npos);
}

TEST_F(TextFileTest, RefusesMoreThanTheLimit) {
  test::write_file(dir_ / "a", "123456");
  EXPECT_EQ(read_text_file(dir_ / "a", "plan", 6), "123456");
  EXPECT_EQ(refusal_of(dir_ / "a", 5),
            expected(dir_ / "a", "it has 6 bytes, and at most 5 are read; name a smaller file"));
  ASSERT_EQ(::truncate((dir_ / "a").c_str(), off_t{1} << 40), 0);  // sparse
  EXPECT_EQ(refusal_of(dir_ / "a"),
            expected(dir_ / "a", "it has 1099511627776 bytes, and at most 268435456 are read; name a smaller file"));
}

TEST_F(TextFileTest, RefusesWhatGrowsBeyondTheLimit) {
  std::string said = refusal_of("/proc/self/status", 10);  // tells no size
  EXPECT_NE(said.find("it grows beyond 10 bytes"), std::string::npos) << said;
}

TEST_F(TextFileTest, SaysThatMemoryIsShort) {
#ifdef KILN_SANITIZED
  GTEST_SKIP() << "a sanitizer ends the program when so much is asked for";
#endif
  test::write_file(dir_ / "a", "");
  ASSERT_EQ(::truncate((dir_ / "a").c_str(), off_t{1} << 43), 0);
  std::string said = refusal_of(dir_ / "a", UINT64_MAX);
  EXPECT_NE(said.find("there is not enough memory for it; name a smaller file"), std::string::npos) << said;
}

TEST_F(TextFileTest, SaysThatDescriptorsAreUsedUp) {
  const fs::path file = dir_ / "a";
  test::write_file(file, "x");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  std::exception_ptr refusal;  // looked at afterwards: the sanitizers open a pipe to look at an object
  try {
    read_text_file(file, "plan");
  } catch (...) {
    refusal = std::current_exception();
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
  std::string said = message_of(refusal);
  EXPECT_EQ(said, expected(file, "too many files are open; close some or raise the limit (ulimit -n)"));
}

}  // namespace
}  // namespace kiln
