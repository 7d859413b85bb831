// One rule for a cache that is not there, or cannot be used, whatever the command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>

#include "cli/program.hpp"
#include "support/fake_nvrtc.hpp"

namespace kiln::test {
namespace {

using testing::HasSubstr;

using Command = std::vector<std::string>;

constexpr int k_done = 0;
constexpr int k_failed = 1;

/// Those that are about the cache; `import` is given a file that is no pack, which it must not come to.
const std::vector<Command> k_cache_commands{{"query"},
                                            {"show", "12"},
                                            {"stats"},
                                            {"path"},
                                            {"explain", "permute", "--indices", "1,0", "--target", "sm_90"},
                                            {"clear"},
                                            {"verify"},
                                            {"verify", "--repair"},
                                            {"trim", "--unused-for", "1d"},
                                            {"export", "out.kilnpack"},
                                            {"import", "in.kilnpack"}};

struct State {
  const char* name;
  std::function<void(Program&)> make;
  const char* remedy;
};

std::filesystem::path cache_of(const Program& program) { return program.home() / "cache"; }

void make_folder(Program& program, mode_t mode) {
  std::filesystem::create_directory(cache_of(program));
  ::chmod(cache_of(program).c_str(), mode);
}

const std::vector<State>& states() {
  static const std::vector<State> k_states{
      {"no home",
       [](Program& program) {
         program.unset("HOME");
         program.unset("KILN_CACHE_DIR");
       },
       "set KILN_CACHE_DIR or HOME"},
      {"off", [](Program& program) { program.set("KILN_CACHE_MODE", "off"); }, "KILN_CACHE_MODE to rw or ro"},
      {"anybody may write it", [](Program& program) { make_folder(program, 0777); }, "chmod go-w"},
      {"no folder", [](Program& program) { write_file(cache_of(program), "a file"); }, "set KILN_CACHE_DIR"},
      {"somebody else's",
       [](Program& program) {
         make_folder(program, 0700);
         if (::chown(cache_of(program).c_str(), 54321, 54321) != 0) {
           ::chmod(cache_of(program).c_str(), 0777);  // only root can give a folder away
         }
       },
       "cache"},
  };
  return k_states;
}

class UnusableCache : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    program_.set("KILN_CACHE_DIR", cache_of(program_).string());
    states()[GetParam()].make(program_);
  }
  Program program_;
};

TEST_P(UnusableCache, IsOneErrorWithARemedyForEveryCommandThatIsAboutIt) {
  for (const Command& command : k_cache_commands) {
    Finished finished = program_.run(command);
    EXPECT_EQ(finished.code, k_failed) << command[0];
    EXPECT_EQ(finished.out, "") << command[0];
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << command[0] << ": " << finished.err;
    EXPECT_THAT(finished.err, testing::StartsWith("kiln: ")) << command[0];
    EXPECT_THAT(finished.err, HasSubstr(states()[GetParam()].remedy)) << command[0];
    EXPECT_THAT(finished.err, testing::Not(HasSubstr("KILN_PACKS"))) << "no pack is meant";
  }
}

TEST_P(UnusableCache, IsReportedByDoctorOnce) {
  Finished finished = program_.run({"doctor"});
  EXPECT_THAT(finished.out, HasSubstr("cache directory: "));
  EXPECT_EQ(finished.err, "");
}

INSTANTIATE_TEST_SUITE_P(All, UnusableCache, testing::Range(std::size_t{0}, states().size()));

TEST(MissingCache, IsAnEmptyOne) {
  Program program;
  EXPECT_EQ(program.run({"query", "--json"}).code, k_done);
  EXPECT_EQ(program.run({"stats", "--json"}).line().at("entries"), 0);
  EXPECT_EQ(program.run({"path"}).code, k_done);
  EXPECT_EQ(program.run({"explain", "permute", "--indices", "1,0", "--target", "sm_90"}).code, k_done);
  EXPECT_EQ(program.run({"verify", "--json"}).line().at("checked"), 0);
  EXPECT_EQ(program.run({"trim", "--unused-for", "1d"}).code, k_done);
  EXPECT_EQ(program.run({"clear", "--json"}).line().at("removed"), 0);
  EXPECT_FALSE(std::filesystem::exists(program.home() / ".cache"));
  Finished shown = program.run({"show", "12"});
  EXPECT_EQ(shown.code, k_failed);
  EXPECT_THAT(shown.err, HasSubstr("begins with 12"));
}

TEST(MissingCache, IsNotExportedOverAnything) {
  Finished finished = Program().run({"export", "out.kilnpack"});
  EXPECT_EQ(finished.code, k_failed);
  EXPECT_THAT(finished.err, HasSubstr("nothing was stored"));
}

TEST(MissingCache, IsWarnedOfOnceByWhatCompiles) {
  Program program;
  const FakeNvrtc nvrtc(program.home() / "nvrtc");
  program.set("KILN_NVRTC", nvrtc.library().string());
  program.unset("HOME");
  const std::string file = program.file("lookup.cu", k_lookup_template);
  Finished finished = program.run(
      {"compile", file, "-D", "table=1", "-D", "element=float", "--target", "sm_80", "--target", "sm_90", "--json"});
  EXPECT_EQ(finished.code, k_done);
  EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  EXPECT_THAT(finished.err, testing::StartsWith("kiln: warning: "));
  EXPECT_THAT(finished.err, HasSubstr("set KILN_CACHE_DIR or HOME"));
}

TEST(Explain, SaysWhatStandsInTheWay) {
  Program program;
  program.hide_nvrtc();
  const Command command{"explain", "permute", "--indices", "1,0", "--target", "sm_90"};
  Command json = command;
  json.emplace_back("--json");
  Finished finished = program.run(command);
  EXPECT_EQ(finished.code, k_done);
  EXPECT_THAT(finished.out, HasSubstr("would miss: no layer has anything of this template"));
  EXPECT_THAT(finished.out, HasSubstr("cannot be compiled here: no NVRTC is found here"));
  EXPECT_THAT(program.run(json).line().at("obstacle"), testing::StartsWith("no NVRTC"));
  program.set("KILN_STRICT", "1");
  EXPECT_THAT(program.run(command).out, HasSubstr("cannot be compiled here: strict mode"));
  EXPECT_THAT(program.run(json).line().at("obstacle"), testing::StartsWith("strict mode"));
  const FakeNvrtc nvrtc(program.home() / "nvrtc");
  program.set("KILN_NVRTC", nvrtc.library().string());
  program.unset("KILN_STRICT");
  EXPECT_THAT(program.run(command).out, testing::Not(HasSubstr("cannot be compiled")));
  EXPECT_EQ(program.run(json).line().at("obstacle"), nullptr);
}

TEST(DamagedCache, IsLeftAloneByWhatOnlyLooks) {
  Program program;
  program.set("KILN_CACHE_DIR", cache_of(program).string());
  make_folder(program, 0700);
  const std::string garbage(5000, 'g');
  write_file(cache_of(program) / "kiln.db", garbage);
  ::chmod((cache_of(program) / "kiln.db").c_str(), 0600);
  for (const Command& command : k_cache_commands) {
    if (command.front() == "verify") {
      continue;
    }
    Finished finished = program.run(command);
    EXPECT_EQ(finished.code, k_failed) << command[0];
    EXPECT_THAT(finished.err, HasSubstr("kiln verify --repair")) << command[0];
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  }
  EXPECT_EQ(read_file(cache_of(program) / "kiln.db"), garbage);
  EXPECT_EQ(program.run({"verify", "--repair"}).code, k_done);
  EXPECT_EQ(program.run({"query"}).code, k_done);
}

TEST(Packs, ThatCannotBeUsedAreNamedWithTheirOwnRemedy) {
  Program program;
  std::string garbage = program.file("garbage", "no pack at all");
  program.set("KILN_PACKS", garbage);
  for (const Command& command : std::vector<Command>{{"query"}, {"show", "12"}, {"stats"}}) {
    Finished finished = program.run(command);
    EXPECT_EQ(finished.code, k_failed) << command[0];
    EXPECT_THAT(finished.err, HasSubstr("correct KILN_PACKS")) << command[0];
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  }
  EXPECT_EQ(program.run({"clear"}).code, k_done) << "which is about the user cache alone";
  program.unset("KILN_PACKS");
  for (const std::string& file : {garbage, (program.home() / "missing").string()}) {
    Finished finished = program.run({"import", file});
    EXPECT_EQ(finished.code, k_failed);
    EXPECT_THAT(finished.err, HasSubstr("kiln export"));
    EXPECT_THAT(finished.err, testing::Not(HasSubstr("KILN_PACKS")));
  }
}

}  // namespace
}  // namespace kiln::test
