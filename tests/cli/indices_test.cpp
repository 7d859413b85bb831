// Index maps that cannot be used: found before anything is compiled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.hpp"

namespace kiln::test {
namespace {

using testing::HasSubstr;

Finished permute(const Program& program, const std::string& indices, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"permute", "--indices", indices, "--target", "sm_90"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return program.run(arguments);
}

void expect_refused(const Finished& finished, std::initializer_list<std::string> named) {
  EXPECT_EQ(finished.code, 1) << "a file's content is no usage error";
  EXPECT_EQ(finished.out, "");
  for (const std::string& part : named) {
    EXPECT_THAT(finished.err, HasSubstr(part));
  }
}

TEST(Indices, OutOfRangeNameFileIndexAndBound) {
  Program program;
  expect_refused(permute(program, program.file("map.txt", "0,7,2"), {"--source-size", "3"}),
                 {"map.txt:1: ", "'7'", "below 3"});
}

TEST(Indices, NegativeOnesAreNamed) {
  Program program;
  expect_refused(permute(program, program.file("map.txt", "0,-4,1")), {"map.txt:1: ", "'-4'", "negative"});
}

TEST(Indices, AnEmptyFileIsRefused) {
  Program program;
  expect_refused(permute(program, program.file("empty.json", "")), {"empty.json"});
}

TEST(Indices, WhatIsNotANumberIsNamedWithFileAndLine) {
  Program program;
  expect_refused(permute(program, program.file("words.txt", "0\n1\ntwo\n")), {"words.txt", "3", "two"});
}

TEST(Indices, AFileThatIsMissingIsNamedAndSoIsTheListForm) {
  expect_refused(permute(Program(), "missing.json"), {"missing.json", "[2, 1, 0]"});
}

TEST(Indices, ANameThatNoFileCanHaveIsToldAsSuch) {
  expect_refused(permute(Program(), std::string(300, 'x')), {"xxx", "its name is too long"});
}

TEST(Indices, WithoutTargetAndGpuTheRemedyIsTold) {
  Program program;
  Finished finished = program.run({"permute", "--indices", "1,0", "--emulate"});
  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.err, HasSubstr("--target"));
}

}  // namespace
}  // namespace kiln::test
