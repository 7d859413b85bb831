// Lists of numbers for endings and templates, written out and in files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.hpp"

namespace kiln::test {
namespace {

using testing::HasSubstr;

Finished explain(const Program& program, const std::string& list) {
  return program.run({"explain", "permute", "--indices", "1,0", "--target", "sm_90", "--ending", "value * s[position]",
                      "--list", list, "--json"});
}

TEST(Lists, TakeBracketsAndBlanks) {
  const Program program;
  const Json key = explain(program, "s=1,0.5").line().at("key");
  for (const std::string& list : {std::string("s=[1, 0.5]"), std::string("s=1 0.5"), std::string("s={1,0.5}"),
                                  std::string("s= 1, 0.5 "), "s=@" + program.file("s.json", "[1,\n 0.5]\n")}) {
    const Finished finished = explain(program, list);
    EXPECT_EQ(finished.code, 0) << list << ": " << finished.err;
    EXPECT_EQ(finished.line().at("key"), key) << list;
  }
  EXPECT_NE(explain(program, "s=1,0.25").line().at("key"), key);
}

TEST(Lists, ANumberThatIsTooLargeIsNamedWithItsList) {
  const Program program;
  const Finished finished = explain(program, "s=1,1e39");
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("--list s: 1e+39 is beyond"));
}

TEST(Lists, WhatIsWrongInAFileIsNamedWithTheFileAndIsNoUsageError) {
  const Program program;
  for (const auto& [content, problem] : {std::pair{"1,x", "'x'"}, std::pair{"1,,2", "''"},
                                         std::pair{"1,1e39", "1e+39 is beyond"}, std::pair{"", "has no numbers"}}) {
    const Finished finished = explain(program, "s=@" + program.file("s.txt", content));
    EXPECT_EQ(finished.code, 1) << content;
    EXPECT_THAT(finished.err, HasSubstr("s.txt")) << content;
    EXPECT_THAT(finished.err, HasSubstr("--list s")) << content;
    EXPECT_THAT(finished.err, testing::Not(HasSubstr("template"))) << content;
    EXPECT_THAT(finished.err, HasSubstr(problem)) << content;
  }
  EXPECT_EQ(explain(program, "s=@missing.txt").code, 1);
}

TEST(Lists, OfTemplatesAreReadAlike) {
  const Program program;
  const std::string source = program.file(
      "t.cu",
      "// kiln: parameter table: u32[]\n// kiln: entry t\n#include \"kiln/values.h\"\n__global__ void t() {}\n");
  const auto run = [&](const std::string& list) {
    return program.run({"explain", "compile", source, "-D", "table=" + list, "--target", "sm_90", "--json"});
  };
  const Json key = run("1,2").line().at("key");
  EXPECT_EQ(run("[1, 2]").line().at("key"), key);
  EXPECT_EQ(run("@" + program.file("table.txt", "1\n2\n")).line().at("key"), key);
  const Finished wrong = run("@" + program.file("table.txt", "1\n-2\n"));
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("table.txt"));
  EXPECT_THAT(run("@" + program.file("table.txt", "1\nx\n")).err,
              HasSubstr("table.txt': -D table: 'x' is not a whole number"));
  EXPECT_EQ(run("1,-2").code, 2);
  EXPECT_THAT(run("@").err, HasSubstr("'table=@' names no file"));
  EXPECT_EQ(run("@").code, 2);
}

}  // namespace
}  // namespace kiln::test
