// KILN_CACHE_MODE=ro: the program is ended by the kernel as soon as it opens anything for writing.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/program.hpp"
#include "support/child_process.hpp"
#include "support/fake_nvrtc.hpp"
#include "support/write_guard.hpp"

namespace kiln::test {
namespace {

constexpr int k_skipped = 77;

class ReadOnlyProgram : public testing::Test {
 protected:
  ReadOnlyProgram() { program_.set("KILN_NVRTC", nvrtc_.library().string()); }

  std::vector<std::string> compile(const std::string& table) const {
    return {"compile", template_, "-D", "table=" + table, "-D", "element=float", "--target", "sm_80", "--json"};
  }
  /// The exit code of the program, run in read-only mode by a process that must not write; -SIGSYS if it does.
  int run_guarded(const std::vector<std::string>& arguments) const {
    return ChildProcess([&] {
             setenv("KILN_CACHE_MODE", "ro", 1);
             setenv("KILN_CACHE_DIR", cache().c_str(), 1);
             setenv("KILN_NVRTC", nvrtc_.library().c_str(), 1);
             int out = open((program_.home() / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
             dup2(out, STDOUT_FILENO);
             std::vector<std::string> words{KILN_PROGRAM};
             words.insert(words.end(), arguments.begin(), arguments.end());
             std::vector<char*> argv;
             for (std::string& word : words) {
               argv.push_back(word.data());
             }
             argv.push_back(nullptr);
             if (!forbid_writing()) {
               return k_skipped;
             }
             execv(KILN_PROGRAM, argv.data());
             return 127;
           })
        .wait();
  }
  std::filesystem::path cache() const { return program_.home() / ".cache/kiln"; }
  std::string out() const { return read_file(program_.home() / "out"); }

  Program program_;
  FakeNvrtc nvrtc_{program_.home() / "nvrtc"};
  std::string template_ = program_.file("lookup.cu", k_lookup_template);
};

TEST_F(ReadOnlyProgram, OpensNothingForWriting) {
  const Json made = program_.run(compile("2,1,0")).line();
  ASSERT_EQ(made.at("outcome"), "compiled");
  const std::string key = made.at("key");
  nvrtc_.stop_counting();
  const auto written = std::filesystem::last_write_time(cache());
  const int status = run_guarded(compile("2,1,0"));
  if (status == k_skipped) {
    GTEST_SKIP() << "this kernel or processor has no seccomp filters that are known here";
  }
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Json::parse(out()).at("outcome"), "disk");
  EXPECT_EQ(run_guarded(compile("0,1,2")), 0);
  EXPECT_EQ(Json::parse(out()).at("outcome"), "compiled");
  const std::vector<std::vector<std::string>> commands{
      {"query"}, {"stats"}, {"verify"}, {"path"}, {"show", key, "--spec"}};
  for (const std::vector<std::string>& command : commands) {
    EXPECT_EQ(run_guarded(command), 0) << command.front();
  }
  EXPECT_EQ(std::filesystem::last_write_time(cache()), written);
}

}  // namespace
}  // namespace kiln::test
