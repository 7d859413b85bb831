#include <gmock/gmock.h>
#include <sys/resource.h>

#include "cli/nvrtc_program.hpp"

namespace kiln::test {
namespace {

using testing::HasSubstr;

class CompileCommand : public NvrtcProgram {
 protected:
  void SetUp() override {
    NvrtcProgram::SetUp();
    template_ = program_.file("lookup.cu", k_lookup_template);
  }

  Finished compile(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"compile", template_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return program_.run(arguments);
  }

  std::string template_;
};

TEST_F(CompileCommand, CompilesEachTargetOnceAndThenServesFromDisk) {
  std::vector<std::string> arguments{"-D",    "table=2,1,0", "-D",     "element=float", "--target",
                                     "sm_80", "--target",    "sm_90a", "--json"};
  for (const char* outcome : {"compiled", "disk"}) {
    Finished finished = compile(arguments);
    EXPECT_EQ(finished.code, 0) << finished.err;
    ASSERT_EQ(finished.lines().size(), 2);
    EXPECT_EQ(finished.lines()[0].at("outcome"), outcome);
    EXPECT_EQ(finished.lines()[1].at("target"), "sm_90a");
    EXPECT_EQ(program_.entries(), 2);
  }
}

TEST_F(CompileCommand, AListFromAFileIsTheSameRequest) {
  std::string table = program_.file("table.json", "[2, 1,\n 0]\n");
  Json first = compile({"-D", "table=2,1,0", "-D", "element=float", "--target", "sm_90", "--json"}).line();
  Json second = compile({"-D", "table=@" + table, "-D", "element=float", "--target", "sm_90", "--json"}).line();
  EXPECT_EQ(second.at("key"), first.at("key"));
  EXPECT_EQ(second.at("outcome"), "disk");
}

TEST_F(CompileCommand, AListFromAFileHasNoHoles) {
  for (const char* text : {"[2,,1]", "2, ,1", "2,1,,", ",2", "[2 1,]"}) {
    std::string table = program_.file("table.json", text);
    Finished finished = compile({"-D", "table=@" + table, "-D", "element=float", "--target", "sm_90"});
    EXPECT_EQ(finished.code, 1) << text;
    EXPECT_THAT(finished.err, HasSubstr("'' is not a whole number")) << text;
    EXPECT_THAT(finished.err, HasSubstr("table.json")) << text;
  }
  auto key = [&](const std::string& text) {
    std::string table = program_.file("table.json", text);
    return compile({"-D", "table=@" + table, "-D", "element=float", "--target", "sm_90", "--json"}).line().at("key");
  };
  for (const char* text : {"2 1\n0\n", "2,\n1,\n0,\n", "{2,1,0}", " [ 2 , 1\n,0 ] \n", "\xEF\xBB\xBF[2,1,0]"}) {
    EXPECT_EQ(key(text), key("[2,1,0]")) << text;
  }
}

TEST_F(CompileCommand, AByteOrderMarkChangesNothing) {
  const std::string marked_template =
      program_.file("marked/lookup.cu", std::string("\xEF\xBB\xBF") + k_lookup_template);
  std::vector<std::string> arguments{"-D", "table=2,1,0", "-D", "element=float", "--target", "sm_90", "--json"};
  Json plain = compile(arguments).line();
  arguments.insert(arguments.begin(), {"compile", marked_template});
  Json marked = program_.run(arguments).line();
  EXPECT_EQ(marked.at("key"), plain.at("key"));
  EXPECT_EQ(marked.at("outcome"), "disk");
}

TEST_F(CompileCommand, RealsAreReadExactly) {
  auto key = [&](const std::string& factor) {
    return compile({"-D", "table=0", "-D", "element=float", "-D", "factor=" + factor, "--target", "sm_90", "--json"})
        .line()
        .at("key")
        .get<std::string>();
  };
  EXPECT_EQ(key("0.5"), key("0x1p-1"));
  EXPECT_NE(key("inf"), key("nan"));
  EXPECT_NE(key("-0.0"), key("0"));
}

TEST_F(CompileCommand, EmitsWhatIsAskedForWholeOrNotAtAll) {
  std::vector<std::string> request{"-D", "table=2,1,0", "-D", "element=float", "--target", "sm_90"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), request.begin(), request.end());
    return compile(more);
  };
  Finished source = with({"--emit", "source"});
  EXPECT_THAT(source.out, HasSubstr("__global__ void lookup"));
  EXPECT_EQ(program_.entries(), 0) << "source compiles nothing";
  EXPECT_THAT(with({"--emit", "ptx"}).out, HasSubstr(".target sm_90"));
  std::string cubin = (program_.home() / "lookup.cubin").string();
  EXPECT_EQ(with({"-o", cubin}).code, 0);
  EXPECT_THAT(read_file(cubin), testing::StartsWith("\x7f"
                                                    "ELF"));
  EXPECT_THAT(with({"--emit", "cubin"}).out, testing::StartsWith("\x7f"
                                                                 "ELF"));
  EXPECT_EQ(with({"--emit", "log"}).out, "");

  Finished blocked = with({"-o", "/nonexistent/lookup.cubin"});
  EXPECT_EQ(blocked.code, 1);
  EXPECT_THAT(blocked.err, HasSubstr("/nonexistent/lookup.cubin"));
  Finished no_cubin = compile({"-D", "table=0", "-D", "element=float", "--target", "compute_90", "--emit", "cubin"});
  EXPECT_EQ(no_cubin.code, 1);
  EXPECT_THAT(no_cubin.err, HasSubstr("--emit ptx"));
}

TEST_F(CompileCommand, TellsOfAFileThatIsWrittenAndOfNoOther) {
  const auto to = [&](const std::string& file, std::vector<std::string> more) {
    more.insert(more.end(), {"-D", "table=2,1,0", "-D", "element=float", "--target", "sm_90", "-o", file});
    return compile(more);
  };
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--json"}}) {
    const Finished full = to("/dev/full", more);
    EXPECT_EQ(full.code, 1);
    EXPECT_EQ(full.out, "");
    EXPECT_THAT(full.err, HasSubstr("/dev/full"));
    const Finished written = to((program_.home() / "lookup.cubin").string(), more);
    EXPECT_EQ(written.code, 0) << written.err;
    EXPECT_THAT(written.out, HasSubstr("sm_90"));
  }
}

TEST_F(CompileCommand, AnErrorShowsTheWholeLogAndTheLinesItPointsAt) {
  Finished finished = compile({"-D", "table=2,1,0", "-D", "element=flaot", "--target", "sm_90"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, HasSubstr("error"));
  EXPECT_THAT(finished.err, HasSubstr("flaot"));
  EXPECT_EQ(program_.entries(), 0) << "a failed compile leaves no row";

  std::string broken = program_.file("broken.cu", "// kiln: entry broken\n\n__global__ void broken() { int i = x; }\n");
  finished = program_.run({"compile", broken, "--target", "sm_90"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.err, HasSubstr("broken.cu(3): error"));
  EXPECT_THAT(finished.err, HasSubstr("    3 | __global__ void broken() { int i = x; }"));
  EXPECT_EQ(program_.entries(), 0);
}

TEST_F(CompileCommand, WhatOneTargetGaveIsToldThoughTheNextFails) {
  std::string idle = program_.file("idle.cu", "// kiln: entry idle\n__global__ void idle() { int unused = 0; }\n");
  Finished finished = program_.run({"compile", idle, "--target", "sm_80", "--target", "sm_21"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.err, HasSubstr("sm_21"));
  EXPECT_THAT(finished.out, testing::StartsWith("sm_80"));
  EXPECT_THAT(finished.out, HasSubstr("\"unused\"")) << "the compiler's warning";
}

TEST_F(CompileCommand, HeadersAreFoundInTheFoldersGiven) {
  program_.file("include/shape.h", "#pragma once\n#define WIDTH 4\n");
  std::string wide = program_.file("wide.cu",
                                   "// kiln: entry wide\n#include <shape.h>\n"
                                   "__global__ void wide(int* x) { *x = WIDTH; }\n");
  std::string folder = (program_.home() / "include").string();
  EXPECT_EQ(program_.run({"compile", wide, "-I", folder, "--target", "sm_90"}).code, 0);
  Finished finished = program_.run({"compile", wide, "--target", "sm_90"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.err, HasSubstr("shape.h"));
}

TEST_F(CompileCommand, EntriesAndOptionsChangeTheKey) {
  std::string many = program_.file("many.cu",
                                   "// kiln: entry many<1>\ntemplate <int N>\n"
                                   "__global__ void many(int* x) { *x = N + EXTRA; }\n");
  auto key = [&](const std::string& entry, const std::string& extra) {
    return program_.run({"compile", many, "--entry", entry, "--option=-DEXTRA=" + extra, "--target", "sm_90", "--json"})
        .line()
        .at("key")
        .get<std::string>();
  };
  EXPECT_NE(key("many<2>", "0"), key("many<3>", "0"));
  EXPECT_NE(key("many<2>", "0"), key("many<2>", "1"));
  EXPECT_EQ(program_.entries(), 3);
}

struct Wrong {
  std::vector<std::string> definitions;
  std::vector<std::string> named;
};

class Definitions : public testing::TestWithParam<Wrong> {};

TEST_P(Definitions, ThatDoNotFitExitTwoAndNameTheParameter) {
  Program program;
  std::vector<std::string> arguments{"compile", program.file("lookup.cu", k_lookup_template), "--target", "sm_90"};
  for (const std::string& definition : GetParam().definitions) {
    arguments.insert(arguments.end(), {"-D", definition});
  }
  Finished finished = program.run(arguments);
  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(finished.out, "");
  for (const std::string& part : GetParam().named) {
    EXPECT_THAT(finished.err, HasSubstr(part));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Definitions,
                         testing::Values(Wrong{{"element=float"}, {"table"}},  // missing
                                         Wrong{{"table=1", "element=float", "size=3"}, {"size", "factor"}},
                                         Wrong{{"table=1", "element=float", "factor=fast"}, {"factor", "fast"}},
                                         Wrong{{"table=1,x", "element=float"}, {"table", "x"}},
                                         Wrong{{"table=70000", "element=float"}, {"table", "70000"}},
                                         Wrong{{"table=", "element=float"}, {"table"}},
                                         Wrong{{"table=1", "table=2", "element=float"}, {"table", "twice"}},
                                         Wrong{{"table"}, {"NAME=VALUE"}}));

TEST(Templates, ThatAreMissingOrMalformedAreNamed) {
  Program program;
  Finished missing = program.run({"compile", "missing.cu", "--target", "sm_90"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("missing.cu"));
  std::string malformed = program.file("malformed.cu", "// kiln: entry f\n// kiln: parameter n: u33\n");
  Finished finished = program.run({"compile", malformed, "--target", "sm_90"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.err, HasSubstr("u33"));
  EXPECT_THAT(finished.err, HasSubstr("2"));
  Finished no_list = program.run(
      {"compile", program.file("lookup.cu", k_lookup_template), "-D", "table=@missing.json", "-D", "element=int"});
  EXPECT_EQ(no_list.code, 1);
  EXPECT_THAT(no_list.err, HasSubstr("missing.json"));
}

TEST_F(CompileCommand, TheLimitOfAFilesSizeIsAnErrorAndNoEnd) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small{1024, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  Finished finished = compile({"-D", "table=2,1,0", "-D", "element=float", "--target", "sm_90"});
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("kiln: warning: "));
}

}  // namespace
}  // namespace kiln::test
