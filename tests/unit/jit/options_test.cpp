#include "jit/options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/error.hpp"

namespace kiln::jit {
namespace {

using List = std::vector<std::string>;

Source with(List options) {
  Source source;
  source.options = std::move(options);
  return source;
}

/// The arguments after Kiln's own first two.
List own(List options) {
  List keyed = compile_arguments(with(std::move(options)), Target::cubin(90, 'a')).keyed;
  EXPECT_EQ(keyed[0], "--gpu-architecture=sm_90a");
  EXPECT_EQ(keyed[1], "--no-source-include");
  return {keyed.begin() + 2, keyed.end()};
}

TEST(CompileArguments, StartWithTargetAndStandard) {
  EXPECT_EQ(own({}), List{"--std=c++17"});
  EXPECT_EQ(compile_arguments(with({}), Target::ptx(80)).keyed[0], "--gpu-architecture=compute_80");
}

TEST(CompileArguments, WhatOnlyServesTheRunIsNotKeyed) {
  CompileArguments arguments = compile_arguments(with({}), Target::cubin(80));
  EXPECT_EQ(arguments.serving, (List{"--no-cache", "--ptxas-options=--verbose"}));
}

TEST(CompileArguments, TheStandardCanBeChosen) {
  EXPECT_EQ(own({"-std=c++20"}), List{"--std=c++20"});
  EXPECT_EQ(own({"--std", "c++14"}), List{"--std=c++14"});
}

TEST(CompileArguments, OneOptionHasOneSpelling) {
  const List expected{"--std=c++17", "--define-macro=X=1"};
  for (const List& given : {List{"-DX=1"}, List{"-D", "X=1"}, List{"-D X=1"}, List{"--define-macro=X=1"},
                            List{"--define-macro", "X=1"}, List{"-define-macro=X=1"}}) {
    EXPECT_EQ(own(given), expected) << given[0];
  }
  for (const char* given : {"-use_fast_math", "--use_fast_math"}) {
    EXPECT_EQ(own({given}), (List{"--std=c++17", "--use_fast_math"}));
  }
  for (const List& given : {List{"-Xptxas=-O1"}, List{"-Xptxas", "-O1"}, List{"--ptxas-options=-O1"}}) {
    EXPECT_EQ(own(given), (List{"--std=c++17", "--ptxas-options=-O1"}));
  }
  EXPECT_EQ(own({"-maxrregcount", "32", "-w", "-default-device", "-G", "-lineinfo"}),
            (List{"--std=c++17", "--maxrregcount=32", "--disable-warnings", "--device-as-default-execution-space",
                  "--device-debug", "--generate-line-info"}));
}

TEST(CompileArguments, KeepTheirOrderAndBlanks) {
  EXPECT_EQ(own({"-DA=b c", "-UB", "-DB=2"}),
            (List{"--std=c++17", "--define-macro=A=b c", "--undefine-macro=B", "--define-macro=B=2"}));
}

TEST(CompileArguments, UnknownOptionsAreTheCompilersToJudge) {
  EXPECT_EQ(own({"--some-new-option=3"}), (List{"--std=c++17", "--some-new-option=3"}));
}

TEST(CompileArguments, AValueMustFollow) {
  try {
    own({"--maxrregcount"});
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "option '--maxrregcount' takes a value and none follows");
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
}

struct Reserved {
  const char* option;
  const char* remedy;
};

class ReservedOption : public testing::TestWithParam<Reserved> {};

TEST_P(ReservedOption, IsRefusedWithWhatToUseInstead) {
  try {
    own({GetParam().option, "x"});
    ADD_FAILURE() << "taken: " << GetParam().option;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    std::string message = error.what();
    EXPECT_NE(message.find(GetParam().option), std::string::npos) << message;
    EXPECT_NE(message.find(GetParam().remedy), std::string::npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ReservedOption,
    testing::Values(Reserved{"-arch=sm_80", "give the target"}, Reserved{"--gpu-architecture=sm_80", "give the target"},
                    Reserved{"-arch", "give the target"}, Reserved{"-I/usr/include", "include_dirs"},
                    Reserved{"-I", "include_dirs"}, Reserved{"--include-path=/x", "include_dirs"},
                    Reserved{"-include=x.h", "into the template"}, Reserved{"--pre-include", "into the template"},
                    Reserved{"-rdc=true", "whole programs"}, Reserved{"-dc", "whole programs"},
                    Reserved{"-dlto", "cubins and PTX only"}, Reserved{"--optix-ir", "cubins and PTX only"},
                    Reserved{"-fdevice-syntax-only", "cubins and PTX only"}, Reserved{"--pch", "reads or writes files"},
                    Reserved{"--create-pch=x", "reads or writes files"},
                    Reserved{"--pch-dir=x", "reads or writes files"}, Reserved{"--time=x", "reads or writes files"},
                    Reserved{"-fdevice-time-trace=x", "reads or writes"}, Reserved{"--no-cache", "Kiln decides"},
                    Reserved{"-no-source-include", "Kiln decides"}, Reserved{"-Xptxas=-o out", "the assembler"},
                    Reserved{"--ptxas-options=-v,-c", "the assembler"}));

TEST(Options, ControlCharactersAreRefused) {
  for (const char* text : {"-DX=1\n#include \"x.h\"", "-DX=\x1b", "\t--use_fast_math"}) {
    Source source;
    source.options = {text};
    try {
      compile_arguments(source, Target::cubin(90));
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(error.what()).find("holds a control character"), std::string::npos);
    }
  }
}

TEST(Options, TheAssemblerMustNotReadFiles) {
  for (const char* text : {"--ptxas-options=-optf x", "-Xptxas=--options-file=x"}) {
    Source source;
    source.options = {text};
    EXPECT_THROW(compile_arguments(source, Target::cubin(90)), Error) << text;
  }
}

}  // namespace
}  // namespace kiln::jit
