#include "permutation/ending.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "kiln/source.hpp"

namespace kiln::permutation {
namespace {

using testing::Contains;
using testing::HasSubstr;

const Target k_target = Target::cubin(90);

IndexMap map_of_three() { return IndexMap::parse("2,0,1", "map"); }

PermuteRequest plan(const PermuteShape& shape) { return plan_permute(map_of_three(), shape, k_target); }

std::string refusal(const PermuteShape& shape) {
  try {
    plan(shape);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "nothing was thrown";
}

std::string refusal(const PermuteEnding& ending) { return refusal(PermuteShape{.ending = ending}); }

TEST(Ending, BecomesPartOfTheSource) {
  const PermuteRequest request =
      plan({.inner = 2,
            .ending = PermuteEnding{
                .to = "f16", .expression = "value * scale[position]", .lists = {{"scale", {1, 2, 3, 4, 5, 6}}}}});
  EXPECT_EQ(request.strategy, "rows");
  const Source source = instantiate(request.tmpl, request.values);
  const auto literal = [](const char* name, const char* text) {
    return std::pair<std::string, std::string>(name, text);
  };
  EXPECT_THAT(source.literals, Contains(literal("has_ending", "true")));
  EXPECT_THAT(source.literals, Contains(literal("from", "kiln::F32")));
  EXPECT_THAT(source.literals, Contains(literal("to", "kiln::F16")));
  EXPECT_THAT(source.literals, Contains(literal("ending", "(value * scale[position])")));
  EXPECT_THAT(source.literals,
              Contains(literal("ending_scale", "{0x1p+0f, 0x1p+1f, 0x1.8p+1f, 0x1p+2f, 0x1.4p+2f, 0x1.8p+2f}")));
  EXPECT_THAT(source.literals, Contains(literal("unit", "unsigned int")));  // elements, though two move together
  EXPECT_THAT(source.literals, Contains(literal("row_out", "6u")));
}

TEST(Ending, ThatChangesNothingIsNone) {
  const PermuteRequest request = plan({.ending = PermuteEnding{}});
  EXPECT_EQ(request.strategy, "staged");
  EXPECT_EQ(request.values, plan({}).values);
  EXPECT_EQ(plan({.ending = PermuteEnding{.to = "bf16"}}).strategy, "rows");
  EXPECT_EQ(plan({.ending = PermuteEnding{.expression = "value"}}).strategy, "rows");
}

TEST(Ending, CountsElementsOfBothSizes) {
  const PermuteRequest request =
      plan({.element_bytes = 2, .row_stride_out = 4, .ending = PermuteEnding{.from = "f16", .to = "f64"}});
  const auto literals = instantiate(request.tmpl, request.values).literals;
  EXPECT_THAT(literals, Contains(std::pair<std::string, std::string>("stride_out", "32ull")));
  EXPECT_THAT(literals, Contains(std::pair<std::string, std::string>("stride_in", "6ull")));
}

TEST(Ending, RefusesTypesThatAreNoNumbers) {
  EXPECT_EQ(
      refusal(PermuteEnding{.to = "c64"}),
      "ending.to is 'c64': an ending computes with one of f16, bf16, f32, f64, e4m3, e5m2, i8, u8, i16, u16, i32, "
      "u32");
  EXPECT_THAT(refusal(PermuteEnding{.from = "half"}), HasSubstr("ending.from is 'half'"));
}

TEST(Ending, RefusesAnotherElementSize) {
  EXPECT_EQ(refusal({.ending = PermuteEnding{.from = "f16", .to = "f32"}}),
            "element_bytes is 4: elements of ending.from, f16, have 2 bytes");
}

TEST(Ending, InPlaceTakesElementsOfOneSize) {
  EXPECT_THAT(refusal({.in_place = true, .ending = PermuteEnding{.to = "f16"}}),
              HasSubstr("the ending makes elements of 2 bytes of ones of 4"));
  EXPECT_EQ(refusal({.in_place = true, .ending = PermuteEnding{.to = "i32"}}), "nothing was thrown");
}

TEST(Ending, RefusesRowsOfMorePositionsThanThereAre) {
  EXPECT_THAT(refusal({.inner = std::uint64_t{1} << 31, .ending = PermuteEnding{.to = "f16"}}),
              HasSubstr("a row of y has 6442450944 elements: with an ending there may be 4294967295"));
}

TEST(Ending, RefusesStrategiesForDenseRows) {
  EXPECT_THAT(refusal({.strategy = PermuteStrategy::staged, .ending = PermuteEnding{.to = "f16"}}),
              HasSubstr("have an ending"));
}

TEST(Ending, RefusesListsThatCannotBe) {
  EXPECT_THAT(refusal(PermuteEnding{.lists = {{"scale", {1}}}}),
              HasSubstr("ending.lists has 'scale', and ending.expression is empty"));
  for (const char* name : {"a b", "", "2nd"}) {
    EXPECT_THAT(refusal(PermuteEnding{.expression = "value", .lists = {{name, {1}}}}), HasSubstr("is no name in C++"));
  }
  EXPECT_THAT(refusal(PermuteEnding{.expression = "value", .lists = {{"float", {1}}}}),
              HasSubstr("ending.lists has the name 'float', which is a word of C++: choose another"));
  EXPECT_THAT(refusal(PermuteEnding{.expression = "value", .lists = {{"linux", {1}}}}), HasSubstr("may be a macro"));
  EXPECT_THAT(refusal(PermuteEnding{.expression = "value", .lists = {{"_low", {1}}}}), HasSubstr("begins with '_'"));
  EXPECT_THAT(refusal(PermuteEnding{.expression = "value", .lists = {{"s", {1}}, {"s_length", {1}}}}),
              HasSubstr("'s_length', which is what the length of another of them is called"));
  EXPECT_THAT(refusal(PermuteEnding{.expression = "value", .lists = {{"value", {1}}}}), HasSubstr("something else"));
  EXPECT_THAT(refusal(PermuteEnding{.expression = "value", .lists = {{"position", {1}}}}), HasSubstr("something else"));
  EXPECT_THAT(refusal(PermuteEnding{.expression = "value", .lists = {{"bias", {}}}}),
              HasSubstr("ending.lists.bias is empty"));
  EXPECT_THAT(refusal(PermuteEnding{.expression = "value", .lists = {{"bias", std::vector<float>(65'537)}}}),
              HasSubstr("have 65537 numbers"));
}

TEST(Ending, RefusesAListThatIsShorterThanWhatIsReadOfIt) {
  const auto with = [](const char* expression, std::size_t length, std::uint64_t inner = 1) {
    return refusal({.inner = inner,
                    .ending = PermuteEnding{.expression = expression, .lists = {{"s", std::vector<float>(length)}}}});
  };
  EXPECT_EQ(with("value * s[position]", 1),
            "ending.lists.s has the length 1, and ending.expression reads it at each of 3 positions: it must have 3 "
            "numbers at least");
  for (const char* expression : {"s[position]", "2*s[ position ]+value", "floor(value) + s /* of all */ [position]"}) {
    EXPECT_THAT(with(expression, 2), HasSubstr("ending.lists.s has the length 2")) << expression;
    EXPECT_EQ(with(expression, 3), "nothing was thrown") << expression;
    EXPECT_THAT(with(expression, 3, 2), HasSubstr("at each of 6 positions")) << expression;
  }
  // What may be left out, is read elsewhere, or is no such list.
  for (const char* expression : {"position < 1 ? s[position] : value", "value * (position < 1 && s[position] > 0)",
                                 "value < 1 or s[position] > 0", "[&] { return position < 1 ? s[position] : value; }()",
                                 "s[position % 1] * value", "value * sizeof(s[position])", "value // s[position]",
                                 "this_s[position]", "s[0] * value"}) {
    EXPECT_EQ(with(expression, 1), "nothing was thrown") << expression;
  }
}

TEST(Ending, NamesTheExpressionThatIsNone) {
  EXPECT_EQ(refusal(PermuteEnding{.expression = "value * (2"}),
            "ending.expression 'value * (2' has a '(' that is not closed");
}

TEST(Expression, TakesExpressions) {
  for (const char* text :
       {"value", "value * 2 + 1", "position < 3 ? -value : value", "fmaxf(value, 0)", "a[position % 3] * value",
        "value /* what it was */ * 2 // and so on", "value *\n  2\n", "[&] { float x = value; return x * x; }()",
        "value > 0, value", "float{1} * value", "(value)", "value // ) not a bracket", "x<int>::of(value)"}) {
    EXPECT_EQ(problem_of_expression(text), "") << text;
  }
}

TEST(Expression, RefusesWhatIsNotOne) {
  const std::vector<std::pair<const char*, const char*>> wrong = {{"", "is blank"},
                                                                  {" \n ", "is blank"},
                                                                  {"// value", "is blank"},
                                                                  {"value)", "has a ')' that closes nothing"},
                                                                  {"value) + (1", "has a ')' that closes nothing"},
                                                                  {"(value", "has a '(' that is not closed"},
                                                                  {"(value]", "has a ']' that closes nothing"},
                                                                  {"value; value", "has a ';'"},
                                                                  {"value;", "has a ';'"},
                                                                  {"value /* to the end", "comment that does not end"},
                                                                  {"value /*/", "comment that does not end"},
                                                                  {"value } int x; {", "has a '}' that closes nothing"},
                                                                  {"#include \"a\"", "has a #"},
                                                                  {"value + \"a\"[0]", "has a \""},
                                                                  {"value + 'a'", "has a '"},
                                                                  {"value \\", "has a \\"},
                                                                  {"a<:0:> * value", "has a <:"},
                                                                  {"%:define a", "has a %:"},
                                                                  {"<% value %>", "has a <%"}};
  for (const auto& [text, problem] : wrong) {
    EXPECT_THAT(problem_of_expression(text), HasSubstr(problem)) << text;
  }
}

}  // namespace
}  // namespace kiln::permutation
