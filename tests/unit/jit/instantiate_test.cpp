#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "kiln/source.hpp"

namespace kiln {
namespace {

Template sample() {
  return Template::from_text("scale.cu",
                             "// kiln: parameter n: u32\n"
                             "// kiln: parameter table: u16[3]\n"
                             "// kiln: parameter element: type = float\n"
                             "// kiln: parameter ending: code = // nothing\n"
                             "// kiln: parameter factor: f32 = 0.5\n"
                             "// kiln: entry scale\n"
                             "#include \"kiln/values.h\"\n"
                             "#include \"mine.h\"\n",
                             {.headers = {{"mine.h", "int mine();\n"}}, .options = {"--use_fast_math"}});
}

Values sample_values() { return {{"n", 36}, {"table", std::vector<int>{2, 0, 1}}}; }

std::string refusal(const Values& values, const std::string& parameter) {
  try {
    instantiate(sample(), values);
  } catch (const TemplateError& error) {
    EXPECT_EQ(error.parameter(), parameter);
    EXPECT_EQ(error.template_name(), "scale.cu");
    return error.what();
  }
  ADD_FAILURE() << "nothing thrown";
  return {};
}

TEST(Instantiate, WritesValuesIntoAGeneratedHeader) {
  Source source = instantiate(sample(), sample_values());
  EXPECT_EQ(source.name, "scale.cu");
  EXPECT_EQ(source.text, sample().text());
  EXPECT_EQ(source.entries, std::vector<std::string>{"scale"});
  EXPECT_EQ(source.options, std::vector<std::string>{"--use_fast_math"});
  ASSERT_EQ(source.headers.size(), 3u);
  EXPECT_EQ(source.headers[0].name, "kiln/values.h");
  EXPECT_EQ(source.headers[0].text,
            "#pragma once\n"
            "namespace kiln {\n"
            "inline constexpr unsigned int n = 36u;\n"
            "inline constexpr unsigned int table_length = 3u;\n"
            "inline constexpr unsigned short table[3] = {2, 0, 1};\n"
            "using element = float;\n"
            "inline constexpr float factor = 0x1p-1f;\n"
            "}  // namespace kiln\n");
  EXPECT_EQ(source.headers[1], (Header{"kiln/code/ending.h", "// nothing\n"}));
  EXPECT_EQ(source.headers[2], (Header{"mine.h", "int mine();\n"}));
}

TEST(Instantiate, LiteralsCoverDefaultsAndAreSortedByName) {
  Source source = instantiate(sample(), sample_values());
  EXPECT_EQ(source.literals, (std::vector<std::pair<std::string, std::string>>{{"element", "float"},
                                                                               {"ending", "// nothing"},
                                                                               {"factor", "0x1p-1f"},
                                                                               {"n", "36u"},
                                                                               {"table", "{2, 0, 1}"}}));
}

TEST(Instantiate, GivenValuesReplaceDefaults) {
  Source source = instantiate(sample(), sample_values().set("factor", 2).set("element", TypeName{"int"}));
  EXPECT_NE(source.headers[0].text.find("using element = int;"), std::string::npos);
  EXPECT_NE(source.headers[0].text.find("float factor = 0x1p+1f;"), std::string::npos);
}

TEST(Instantiate, IsAFunctionOfItsValues) {
  Values forwards = sample_values();
  Values backwards;
  backwards.set("table", std::vector<std::uint64_t>{2, 0, 1}).set("n", std::uint8_t{36});
  Source a = instantiate(sample(), forwards);
  Source b = instantiate(sample(), backwards);
  EXPECT_EQ(a.headers, b.headers);
  EXPECT_EQ(a.literals, b.literals);
}

TEST(Instantiate, NonFiniteConstantsHaveAFormForOldCompilers) {
  Source source = instantiate(sample(), sample_values().set("factor", HUGE_VAL));
  EXPECT_NE(source.headers[0].text.find("#if __has_builtin(__builtin_bit_cast)\n"
                                        "inline constexpr float factor = __builtin_bit_cast(float, 0x7f800000u);\n"
                                        "#else\n"
                                        "inline constexpr float factor = (1.0f / 0.0f);\n"
                                        "#endif\n"),
            std::string::npos)
      << source.headers[0].text;
}

TEST(Instantiate, RefusesValuesThatDoNotFit) {
  EXPECT_NE(
      refusal({{"table", std::vector<int>{0, 1, 2}}}, "n").find("'n' has no value and no default (declared in line 1)"),
      std::string::npos);
  EXPECT_NE(refusal(sample_values().set("m", 1), "m")
                .find("no parameter 'm': the template declares n, table, element, ending, factor"),
            std::string::npos);
  EXPECT_NE(refusal(sample_values().set("n", 1.5), "n").find("is declared u32 and was given the real 1.5"),
            std::string::npos);
  EXPECT_NE(refusal(sample_values().set("n", -1), "n").find("is -1: u32 holds 0 to 4294967295"), std::string::npos);
  EXPECT_NE(refusal(sample_values().set("table", std::vector<int>{1}), "table").find("takes a list of 3"),
            std::string::npos);
}

TEST(Instantiate, TextShowsGeneratedHeadersThenTheMainFile) {
  std::string text = to_text(instantiate(sample(), sample_values()));
  EXPECT_TRUE(text.starts_with("// ---- kiln/values.h\n#pragma once\n")) << text;
  std::size_t code = text.find("// ---- kiln/code/ending.h\n// nothing\n");
  std::size_t main = text.find("// ---- scale.cu\n// kiln: parameter n: u32\n");
  EXPECT_NE(code, std::string::npos);
  EXPECT_NE(main, std::string::npos);
  EXPECT_LT(code, main);
}

}  // namespace
}  // namespace kiln
