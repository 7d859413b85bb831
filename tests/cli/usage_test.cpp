// What needs no compiler: help, usage errors, exit codes, standard streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

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

/// `command` with everything it needs, and then `more`.
Wrong wrong(const std::string& command, std::vector<std::string> more, const std::string& named) {
  static const std::map<std::string, std::vector<std::string>> k_whole{
      {"permute", {"permute", "--target", "sm_90"}},
      {"compile", {"compile", "--target", "sm_90"}},
      {"precompile", {"precompile", "plan.json"}},
      {"trim", {"trim"}},
  };
  auto whole = k_whole.find(command);
  std::vector<std::string> arguments = whole == k_whole.end() ? std::vector{command} : whole->second;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return {arguments, named};
}

/// Longer than the name of any file.
std::string long_list() {
  std::string list;
  for (int i = 0; i < 3000; ++i) {
    list += "0,";
  }
  return list;
}

// Whatever the cache and the files hold, these can never be right.
INSTANTIATE_TEST_SUITE_P(Commands, UsageErrors,
                         testing::Values(Wrong{{}, "ubcommand"}, Wrong{{"fry"}, "fry"}, Wrong{{"permute"}, "--indices"},
                                         Wrong{{"compile"}, "template"}, Wrong{{"precompile", "plan.json"}, "-o"},
                                         Wrong{{"show"}, "key"}, Wrong{{"import"}, "files"}, Wrong{{"export"}, "file"},
                                         Wrong{{"explain"}, "ubcommand"}, Wrong{{"trim"}, "--max-size"},
                                         Wrong{{"export", "a", "b"}, "b"},
                                         Wrong{{"--json"}, "no option --json before a command"},
                                         Wrong{{"explain", "fry"}, "'explain fry'"}));

// The misspelt option is why the other thing is missing or wrong.
INSTANTIATE_TEST_SUITE_P(
    UnknownOptionsComeFirst, UsageErrors,
    testing::Values(Wrong{{"query", "--colour"}, "no option --colour"},
                    Wrong{{"precompile", "--taget", "sm_90", "plan.json"}, "no option --taget"},
                    Wrong{{"permute", "--index=1,0", "--target", "sm_90"}, "no option --index"},
                    Wrong{{"query", "--colour", "--sort", "size"}, "no option --colour"},
                    Wrong{{"--cache", "d", "query"}, "no option --cache before a command (see kiln --help"},
                    Wrong{{"--json", "query", "--bogus"}, "no option --json before a command"},
                    Wrong{{"query", "--bogus", "--json"}, "no option --bogus (see kiln query --help"},
                    Wrong{{"explain", "permute", "--index", "1,0"}, "no option --index (see kiln explain permute"}));

INSTANTIATE_TEST_SUITE_P(
    Permute, UsageErrors,
    testing::Values(
        wrong("permute", {"--indices", "-1,0"}, "'-1'"), wrong("permute", {"--indices", "0,0x1"}, "'0x1'"),
        wrong("permute", {"--indices", "1,2,x"}, "[2, 1, 0]"), wrong("permute", {"--indices", "[0,1"}, "[2, 1, 0]"),
        wrong("permute", {"--indices", long_list() + "x"}, "'x'"), wrong("permute", {"--indices", "[]"}, "empty"),
        wrong("permute", {"--indices", "0 1 two"}, "'two'"),
        wrong("permute", {"--indices", "0,4294967296"}, "'4294967296'"),
        wrong("permute", {"--indices", "0,7", "--source-size", "3"}, "below 3"),
        wrong("permute", {"--indices", "1,0", "--source-size", "0"}, "--source-size"),
        wrong("permute", {"--indices", "1,0", "--source-size", "99999999999"}, "--source-size"),
        wrong("permute", {"--indices", "1,0", "--dtype", "f33"}, "f33"),
        wrong("permute", {"--indices", "1,0", "--inner", "0"}, "--inner"),
        wrong("permute", {"--indices", "1,0", "--inner", "9999999999999999999"}, "--inner"),
        wrong("permute", {"--indices", "1,0", "--inner", "281474976710656"}, "inner"),
        wrong("permute", {"--indices", "1,0", "--inner", "-1"}, "--inner"),
        wrong("permute", {"--indices", "1,0", "--strategy", "quick"},
              "'quick': it must be one of automatic, direct, staged, tiled, bucketed, rows, elements"),
        wrong("permute", {"--indices", "1,0", "--strategy", ""}, "--strategy"),
        wrong("permute", {"--indices", "2,1,3,0", "--strategy", "tiled"}, "the map does not swap axes"),
        Wrong{{"explain", "permute", "--indices", "1,0", "--target", "sm_90", "--strategy", "Direct"}, "'Direct'"},
        wrong("permute", {"--indices", "1,0", "--rows", "-1"}, "--rows"),
        wrong("permute", {"--indices", "1,0", "--row-stride-in", "-1"}, "--row-stride-in"),
        wrong("permute", {"--indices", "1,0", "--to-dtype", "f33"}, "--to-dtype"),
        wrong("permute", {"--indices", "1,0", "--to-dtype", "c64"}, "ending.to is 'c64'"),
        wrong("permute", {"--indices", "1,0", "--dtype", "b32", "--to-dtype", "f16"}, "ending.from is 'b32'"),
        wrong("permute", {"--indices", "1,0", "--ending", "value)"}, "closes nothing"),
        wrong("permute", {"--indices", "1,0", "--ending", "a[position]", "--list", "a"}, "NAME=@FILE"),
        wrong("permute", {"--indices", "1,0", "--ending", "a[position]", "--list", "a=1,x"},
              "kiln: --list a: 'x' is not a number"),
        wrong("permute", {"--indices", "1,0,2", "--ending", "a[position]", "--list", "a=1,2"},
              "ending.lists.a has the length 2, and ending.expression reads it at each of 3 positions"),
        wrong("permute", {"--indices", "1,0", "--ending", "a[position]", "--list", "a=1", "--list", "a=2"},
              "given twice"),
        wrong("permute", {"--indices", "1,0", "--target", "sm_90", "--list", "a=1"}, "ending.expression is empty"),
        wrong("permute", {"--indices", "1,0", "--ending", "a[position]", "--list", "a=1,1e39"}, "1e+39 is beyond"),
        wrong("permute", {"--indices", "1,0", "--ending", "a[position]", "--list", "a=1e-50,1"}, "1e-50 is beyond"),
        wrong("permute", {"--indices", "2,,1"}, "',' is not an index"),
        wrong("permute", {"--indices", "2,1,,"}, "',' is not an index"),
        wrong("permute", {"--indices", "1,0", "--ending", "a[position]", "--list", "2=1"}, "is no name in C++"),
        wrong("permute", {"--indices", "1,0", "--ending", "a[position]", "--list", "float=1"},
              "'float', which is a word"),
        wrong("permute", {"--indices", "1,0", "--ending", "a[position]", "--list", "NULL=1"}, "'NULL', which may be"),
        wrong("permute", {"--indices", "1,0", "--ending", "a[position]", "--list", "a=@"}, "'a=@' names no file"),
        wrong("permute", {"--indices", "1,0", "--row-stride-in", "1"}, "row_stride_in is 1"),
        wrong("permute", {"--indices", "1,0", "--row-stride-out", "1"}, "row_stride_out is 1"),
        wrong("permute", {"--indices", "1,1", "--in-place"}, "is no permutation"),
        wrong("permute", {"--indices", "1,0", "--in-place", "--row-stride-out", "3"}, "must be the same"),
        wrong("permute", {"--indices", "1,0", "--rows", "1e3"}, "1e3"),
        wrong("permute", {"--indices", "1,0", "--rows", "18446744073709551615"}, "--rows"),
        wrong("permute", {"--indices", "1,0", "--inner", "99999999", "--emulate", "--rows", "1000"}, "fewer --rows"),
        wrong("permute", {"--indices", "1,0", "--row-stride-out", "1000000000000", "--emulate", "--rows", "2"},
              "fewer --rows, or a smaller --row-stride-in and --row-stride-out"),
        wrong("permute", {"--indices", "1,0", "--inner", "999999999", "--emulate", "--rows", "1"}, "smaller --inner"),
        Wrong{{"permute", "--indices", "1,0", "--target", "sm_ninety"}, "sm_ninety"}));

INSTANTIATE_TEST_SUITE_P(
    Compile, UsageErrors,
    testing::Values(wrong("compile", {"a.cu", "--emit", "sass"}, "--emit"),
                    Wrong{{"compile", "a.cu", "--target", "90"}, "'90'"},
                    Wrong{{"compile", "a.cu", "--target", "sm_80", "--target", "sm_90", "--emit", "ptx"}, "one target"},
                    wrong("compile", {"a.cu", "--emit", "ptx", "--json"}, "-o FILE"), wrong("compile", {"-"}, "./-"),
                    wrong("compile", {"a.cu", "-I", "-"}, "./-"),
                    wrong("compile", {"a.cu", "-o", "--json"}, "missing before '--json'")));

INSTANTIATE_TEST_SUITE_P(Packs, UsageErrors,
                         testing::Values(wrong("precompile", {"-o", "a.kilnpack", "-j", "0"}, "-j"),
                                         wrong("precompile", {"-o", "a.kilnpack", "-j", "-2"}, "-j"),
                                         wrong("precompile", {"-o", "a.kilnpack", "-j", "4097"}, "4096"),
                                         wrong("precompile", {"-o", "a.kilnpack", "--target", "native"}, "native"),
                                         wrong("precompile", {"-o", "a.kilnpack", "--target", "sm90"}, "sm90"),
                                         wrong("precompile", {"-o", "-"}, "standard output"),
                                         wrong("export", {"-"}, "standard output"),
                                         wrong("import", {"-"}, "standard input"),
                                         Wrong{{"precompile", "-", "-o", "a"}, "standard input"}));

INSTANTIATE_TEST_SUITE_P(
    Cache, UsageErrors,
    testing::Values(wrong("query", {"--sort", "size"}, "--sort"), wrong("query", {"--target", "volta"}, "volta"),
                    wrong("query", {"--target", "native"}, "native"), wrong("query", {"--limit", "many"}, "--limit"),
                    wrong("query", {"--limit", "3.5"}, "3.5"), wrong("query", {"--limit", "-1"}, "--limit"),
                    wrong("query", {"--key", "zz"}, "'zz'"), wrong("query", {"--key", std::string(33, '0')}, "--key"),
                    wrong("query", {"--cache", "--json"}, "missing before '--json'"), wrong("show", {"xyz"}, "xyz"),
                    wrong("show", {"12", "--ptx", "--log"}, "--log"), wrong("show", {"12", "-o", "file"}, "--ptx"),
                    wrong("show", {"12", "--ptx", "--json"}, "--json"), wrong("trim", {"--max-size", "much"}, "much"),
                    wrong("trim", {"--max-size", "-1"}, "--max-size"),
                    wrong("trim", {"--max-size", "99999999999T"}, "99999999999T"),
                    wrong("trim", {"--unused-for", "30"}, "'30'"), wrong("trim", {"--unused-for", "-1d"}, "'-1d'"),
                    wrong("trim", {"--unused-for", "9999999999999999w"}, "--unused-for")));

TEST(Usage, NoValueMayBeEmptyHoweverItIsWritten) {
  const std::map<std::string, std::vector<std::string>> options{
      {"permute",
       {"--indices", "--dtype", "--inner", "--source-size", "--rows", "--strategy", "--row-stride-in",
        "--row-stride-out", "--to-dtype", "--ending", "--list", "--target", "--cache"}},
      {"compile", {"-D", "-I", "--entry", "--option", "--target", "--emit", "-o", "--cache"}},
      {"precompile", {"-o", "-j", "--target", "--cache"}},
      {"query", {"--template", "--target", "--key", "--sort", "--limit", "--cache"}},
      {"show", {"-o", "--cache"}},
      {"trim", {"--max-size", "--unused-for", "--cache"}},
      {"clear", {"--cache"}},
  };
  Program program;
  for (const auto& [command, names] : options) {
    for (const std::string& name : names) {
      std::vector<std::vector<std::string>> ways{{command, name, ""}};
      if (name.starts_with("--")) {
        ways.push_back({command, name + "=", "--json"});
      }
      for (const std::vector<std::string>& way : ways) {
        Finished finished = program.run(way);
        EXPECT_EQ(finished.code, k_usage) << command << " " << name;
        EXPECT_THAT(finished.err, HasSubstr(name));
        EXPECT_PRED1(is_one_line, finished.err);
      }
    }
  }
  for (const char* command : {"show", "export", "import", "compile"}) {
    EXPECT_EQ(program.run({command, ""}).code, k_usage) << command;
  }
}

TEST(Usage, WhatIsWrongWithTheTemplatesUseIsUsageToo) {
  Program program;
  std::string file = program.file("lookup.cu", k_lookup_template);
  auto compile = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"compile", file, "--target", "sm_90", "-D", "element=float", "-D", "table=1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return program.run(arguments);
  };
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{"--option=-I"},
                                                                                    {"--option=-arch=sm_80"},
                                                                                    {"--option", "-D"},
                                                                                    {"-D", "nothing=1"},
                                                                                    {"-D", "factor"},
                                                                                    {"-D", "factor=blue"},
                                                                                    {"-D", "table=70000"},
                                                                                    {"-o", file}}) {
    Finished finished = compile(more);
    EXPECT_EQ(finished.code, k_usage) << more.back() << finished.err;
    EXPECT_PRED1(is_one_line, finished.err);
  }
  EXPECT_EQ(read_file(file), k_lookup_template) << "-o on the template itself";
  const std::string long_name(300, 'f');
  for (const std::string& folder : {std::string("/no/such/folder"), long_name, file}) {
    Finished missing = compile({"-I", folder});
    EXPECT_EQ(missing.code, k_failed);
    EXPECT_THAT(missing.err, HasSubstr("folder " + ("'" + folder.substr(0, 100))));
    EXPECT_PRED1(is_one_line, missing.err);
  }
}

TEST(Usage, BehindTwoDashesNothingIsAnOption) {
  Finished finished = Program().run({"compile", "--", "a.cu", "--bogus"});
  EXPECT_EQ(finished.code, k_usage);
  EXPECT_THAT(finished.err, testing::Not(HasSubstr("no option")));
  EXPECT_THAT(finished.err, HasSubstr("--bogus"));
}

TEST(Usage, ATemplateThatTheCompilerWouldTakeForAnOptionIsRefused) {
  Program program;
  Finished finished = program.run({"compile", program.file("-x.cu", k_lookup_template), "--target", "sm_90"});
  EXPECT_EQ(finished.code, k_failed);
  EXPECT_THAT(finished.err, HasSubstr("'-x.cu'"));
  EXPECT_PRED1(is_one_line, finished.err);
}

TEST(Usage, APlaceThatCannotBeWrittenIsToldBeforeAnythingIsCompiled) {
  Program program;
  program.hide_nvrtc();
  std::string file = program.file("lookup.cu", k_lookup_template);
  for (const std::string& place : {(program.home() / "no/file").string(), program.home().path().string()}) {
    Finished finished =
        program.run({"compile", file, "--target", "sm_90", "-D", "element=float", "-D", "table=1", "-o", place});
    EXPECT_EQ(finished.code, k_failed) << "not 3, which a compile without NVRTC is";
    EXPECT_THAT(finished.err, HasSubstr(place));
    EXPECT_EQ(finished.out, "");
  }
}

TEST(Usage, RowsThatAreTooManyAreToldBeforeAnythingIsCompiled) {
  Program program;
  program.hide_nvrtc();
  const std::string most = std::to_string(std::uint64_t{1} << 40);
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--emulate"}, {"--inner", "16777216"}}) {
    std::vector<std::string> arguments{"permute", "--indices", "1,0", "--target", "sm_90", "--rows", most};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Finished finished = program.run(arguments);
    EXPECT_EQ(finished.code, k_usage) << "not 3, which a compile without NVRTC is";
    EXPECT_THAT(finished.err, HasSubstr("--rows"));
    EXPECT_PRED1(is_one_line, finished.err);
  }
}

TEST(Usage, OnlyWhereItIsAllowedIsNativeOffered) {
  Program program;
  EXPECT_THAT(program.run({"permute", "--help"}).out, HasSubstr("native"));
  EXPECT_THAT(program.run({"precompile", "--help"}).out, testing::Not(HasSubstr("native")));
}

TEST(Usage, AMessageIsOneLineWithNothingThatATerminalObeys) {
  const std::string value = "a\x1b[31m\nb";
  Program program;
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{value},
                                             {"show", value},
                                             {"query", "--sort", value},
                                             {"query", "--" + value},
                                             {"query", "--limit", value},
                                             {"trim", "--max-size", value},
                                             {"trim", "--unused-for", value},
                                             {"permute", "--indices", "1," + value},
                                             {"permute", "--indices", "1,0", "--target", value},
                                             {"permute", "--indices", "1,0", "--dtype", value},
                                             {"export", "a", value},
                                             {"compile", "a.cu", "--emit", value},
                                             {"compile", "a.cu", "-o", "-" + value}}) {
    Finished finished = program.run(command);
    EXPECT_EQ(finished.code, k_usage) << finished.err;
    EXPECT_PRED1(is_one_line, finished.err) << command[0];
    EXPECT_THAT(finished.err, testing::Not(HasSubstr("\x1b"))) << command[0];
    EXPECT_THAT(finished.err, HasSubstr("\\x1b[31m")) << command[0];
  }
}

TEST(Usage, AnEnvironmentVariableThatMakesNoSenseIsNamed) {
  Program program;
  program.set("KILN_CACHE_MODE", "sometimes");
  Finished finished = program.run({"stats"});
  EXPECT_EQ(finished.code, k_usage);
  EXPECT_THAT(finished.err, HasSubstr("KILN_CACHE_MODE"));
  EXPECT_THAT(finished.err, HasSubstr("sometimes"));
}

/// A way to call each command that writes something where there is neither compiler nor GPU.
const std::vector<std::vector<std::string>> k_writing{{"--help"},
                                                      {"--version"},
                                                      {"permute", "--help"},
                                                      {"stats"},
                                                      {"stats", "--json"},
                                                      {"path"},
                                                      {"path", "--json"},
                                                      {"clear"},
                                                      {"verify"},
                                                      {"trim", "--max-size", "1G"},
                                                      {"doctor"},
                                                      {"doctor", "--json"},
                                                      {"explain", "permute", "--indices", "1,0", "--target", "sm_90"}};

TEST(StandardStreams, AFullDeviceIsAFailureAndNotSilence) {
  Program program;
  for (const std::vector<std::string>& command : k_writing) {
    Finished finished = program.run(command, "/dev/full");
    EXPECT_EQ(finished.code, k_failed) << command[0];
    EXPECT_PRED1(is_one_line, finished.err);
    EXPECT_THAT(finished.err, HasSubstr("standard output"));
  }
}

TEST(StandardStreams, AClosedOneIsAFailureAndNotSilence) {
  Program program;
  for (const std::vector<std::string>& command : k_writing) {
    Finished finished = program.run(command, k_closed);
    EXPECT_EQ(finished.code, k_failed) << command[0];
    EXPECT_THAT(finished.err, HasSubstr("standard output"));
  }
}

TEST(StandardStreams, AReaderThatLeftIsNoErrorWorthAWord) {
  Program program;
  for (const std::vector<std::string>& command : k_writing) {
    Finished finished = program.run(command, k_broken_pipe);
    EXPECT_EQ(finished.code, k_failed) << command[0];
    EXPECT_EQ(finished.err, "") << command[0];
  }
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
  EXPECT_EQ(json.at("packs"), Json::array());
  program.set("KILN_PACKS", "/one.kilnpack:/two.kilnpack");
  EXPECT_EQ(program.run({"path", "--json"}).line().at("packs"), Json::array({"/one.kilnpack", "/two.kilnpack"}));
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
