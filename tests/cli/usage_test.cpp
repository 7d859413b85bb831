// What needs no compiler: help, usage errors, exit codes, standard streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "cli/program.hpp"

namespace kiln::test {
namespace {

using testing::HasSubstr;

constexpr int k_failed = 1;
constexpr int k_usage = 2;

const std::vector<std::string> k_commands{"permute", "compile", "precompile", "query", "show",   "explain", "stats",
                                          "path",    "clear",   "verify",     "trim",  "export", "import",  "doctor"};

bool is_one_line(const std::string& text) {
  return std::ranges::count(text, '\n') == 1 && text.ends_with('\n') && text.starts_with("kiln: ");
}

TEST(Usage, EveryCommandHasHelpWithExamples) {
  Program program;
  EXPECT_THAT(program.run({"--help"}).out, HasSubstr("Exit codes"));
  for (const std::string& command : k_commands) {
    Finished help = program.run({command, "--help"});
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_THAT(help.out, HasSubstr("kiln " + command)) << "no example";
    if (command != "explain") {
      EXPECT_THAT(help.out, HasSubstr("--cache"));
      EXPECT_THAT(help.out, HasSubstr("--json"));
    }
    EXPECT_EQ(help.err, "");
  }
}

TEST(Usage, VersionIsToldOnStandardOutput) {
  Finished version = Program().run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

struct Wrong {
  std::vector<std::string> arguments;
  std::string named;  ///< in the message
};

class UsageErrors : public testing::TestWithParam<Wrong> {};

TEST_P(UsageErrors, ExitTwoWithOneLineThatNamesIt) {
  Finished finished = Program().run(GetParam().arguments);
  EXPECT_EQ(finished.code, k_usage);
  EXPECT_EQ(finished.out, "");
  EXPECT_PRED1(is_one_line, finished.err);
  EXPECT_THAT(finished.err, HasSubstr(GetParam().named));
}

INSTANTIATE_TEST_SUITE_P(
    All, UsageErrors,
    testing::Values(Wrong{{}, "ubcommand"}, Wrong{{"fry"}, "fry"}, Wrong{{"query", "--colour"}, "--colour"},
                    Wrong{{"permute"}, "--indices"}, Wrong{{"permute", "--indices", "1,0", "--dtype", "f33"}, "f33"},
                    Wrong{{"permute", "--indices", "1,0", "--target", "sm_ninety"}, "sm_ninety"},
                    Wrong{{"permute", "--indices", "1,0", "--inner", "0", "--target", "sm_90"}, "--inner"},
                    Wrong{{"permute", "--indices", "1,0", "--rows", "-1", "--target", "sm_90"}, "--rows"},
                    Wrong{{"compile"}, "template"}, Wrong{{"compile", "a.cu", "--emit", "sass"}, "--emit"},
                    Wrong{{"compile", "a.cu", "--target", "90"}, "'90'"},
                    Wrong{{"compile", "a.cu", "--target", "sm_80", "--target", "sm_90", "--emit", "ptx"}, "one target"},
                    Wrong{{"compile", "a.cu", "--target", "sm_90", "--emit", "ptx", "--json"}, "-o FILE"},
                    Wrong{{"precompile", "plan.json"}, "-o"},
                    Wrong{{"precompile", "plan.json", "-o", "a.kilnpack", "-j", "0"}, "-j"},
                    Wrong{{"precompile", "plan.json", "-o", "a.kilnpack", "--target", "native"}, "native"},
                    Wrong{{"query", "--sort", "size"}, "--sort"}, Wrong{{"query", "--target", "volta"}, "volta"},
                    Wrong{{"query", "--limit", "many"}, "--limit"}, Wrong{{"query", "--limit", "3.5"}, "3.5"},
                    Wrong{{"show"}, "key"}, Wrong{{"show", "12", "--ptx", "--log"}, "--log"},
                    Wrong{{"show", "12", "-o", "file"}, "--ptx"}, Wrong{{"trim"}, "--max-size"},
                    Wrong{{"trim", "--max-size", "much"}, "much"}, Wrong{{"trim", "--unused-for", "30"}, "'30'"},
                    Wrong{{"import"}, "files"}, Wrong{{"export"}, "file"}, Wrong{{"explain"}, "ubcommand"},
                    Wrong{{"clear", "--cache", ""}, "--cache"}, Wrong{{"compile", "a.cu", "-o", ""}, "-o"},
                    Wrong{{"precompile", "plan.json", "-o", ""}, "-o"}, Wrong{{"show", "12", "--ptx", "-o", ""}, "-o"},
                    Wrong{{"permute", "--indices", ""}, "--indices"}, Wrong{{"export", ""}, "file"},
                    Wrong{{"import", ""}, "files"}));

TEST(Usage, AnEnvironmentVariableThatMakesNoSenseIsNamed) {
  Program program;
  program.set("KILN_CACHE_MODE", "sometimes");
  Finished finished = program.run({"stats"});
  EXPECT_EQ(finished.code, k_usage);
  EXPECT_THAT(finished.err, HasSubstr("KILN_CACHE_MODE"));
  EXPECT_THAT(finished.err, HasSubstr("sometimes"));
}

TEST(StandardStreams, AFullDeviceIsAFailureAndNotSilence) {
  Finished finished = Program().run({"path"}, "/dev/full");
  EXPECT_EQ(finished.code, k_failed);
  EXPECT_PRED1(is_one_line, finished.err);
  EXPECT_THAT(finished.err, HasSubstr("standard output"));
}

TEST(StandardStreams, AClosedOneIsAFailureAndNotSilence) {
  Finished finished = Program().run({"path"}, k_closed);
  EXPECT_EQ(finished.code, k_failed);
  EXPECT_THAT(finished.err, HasSubstr("standard output"));
}

TEST(StandardStreams, AReaderThatLeftIsNoErrorWorthAWord) {
  Finished finished = Program().run({"path"}, k_broken_pipe);
  EXPECT_EQ(finished.code, k_failed);
  EXPECT_EQ(finished.err, "");
}

TEST(Path, IsThatOfTheEnvironmentUnlessGiven) {
  Program program;
  EXPECT_EQ(program.run({"path"}).out, (program.home() / ".cache/kiln").string() + "\n");
  program.set("KILN_CACHE_DIR", "/somewhere");
  EXPECT_EQ(program.run({"path"}).out, "/somewhere\n");
  EXPECT_EQ(program.run({"path", "--cache", "/elsewhere"}).out, "/elsewhere\n");
  Json json = program.run({"path", "--cache", "/elsewhere", "--json"}).line();
  EXPECT_EQ(json.at("path"), "/elsewhere");
  EXPECT_EQ(json.at("mode"), "rw");
}

TEST(Path, WithoutAHomeIsAnErrorWithARemedy) {
  Program program;
  program.unset("HOME");
  Finished finished = program.run({"path"});
  EXPECT_EQ(finished.code, k_failed);
  EXPECT_THAT(finished.err, HasSubstr("KILN_CACHE_DIR"));
  EXPECT_EQ(program.run({"path", "--json"}).line().at("path"), nullptr);
}

TEST(EmptyCache, IsListedCountedClearedAndTouchesNoDisk) {
  Program program;
  Finished query = program.run({"query"});
  EXPECT_EQ(query.code, 0);
  EXPECT_EQ(query.out, "");
  EXPECT_THAT(query.err, HasSubstr("no kernel"));
  Json stats = program.run({"stats", "--json"}).line();
  for (const char* counter :
       {"entries", "bytes", "hits", "misses", "compiles", "corrupt_dropped", "evicted", "degraded"}) {
    EXPECT_EQ(stats.at(counter), 0) << counter;
  }
  EXPECT_EQ(stats.at("max_bytes"), 1 << 30);
  EXPECT_EQ(program.run({"clear"}).out, "removed 0 kernels\n");
  EXPECT_FALSE(std::filesystem::exists(program.home() / ".cache"));
}

TEST(Show, OfAKeyThatIsNotThereFails) {
  Program program;
  Finished absent = program.run({"show", "0123abcd"});
  EXPECT_EQ(absent.code, k_failed);
  EXPECT_THAT(absent.err, HasSubstr("0123abcd"));
  Finished not_a_key = program.run({"show", "xyz"});
  EXPECT_EQ(not_a_key.code, k_failed);
  EXPECT_THAT(not_a_key.err, HasSubstr("xyz"));
}

TEST(Doctor, WithoutNvrtcSaysWhereItLookedAndExitsThree) {
  Program program;
  program.hide_nvrtc();
  Finished finished = program.run({"doctor"});
  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.out, HasSubstr("nvrtc"));
  EXPECT_THAT(finished.out, HasSubstr("/nonexistent/libnvrtc.so"));
  EXPECT_THAT(finished.out, HasSubstr("do: "));
}

}  // namespace
}  // namespace kiln::test
