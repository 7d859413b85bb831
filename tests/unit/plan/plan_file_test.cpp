#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <limits>
#include <string>

#include "kiln/error.hpp"
#include "kiln/permuter.hpp"
#include "kiln/plan.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln {
namespace {

using std::string_literals::operator""s;

constexpr const char* k_template = R"({"name": "t.cu", "text": "// kiln: parameter n: u32\n// kiln: entry t\n"})";

/// How a plan is refused, from behind the name of its folder on.
class PlanFileTest : public ::testing::Test {
 protected:
  std::string refusal_of(const std::string& text, const std::vector<Target>& targets = {Target::cubin(90)}) {
    test::write_file(dir_ / "plan.json", text);
    try {
      Plan::read(dir_ / "plan.json", targets);
    } catch (const Error& error) {
      std::string said = error.what();
      std::string folder = dir_.path().string() + "/";
      EXPECT_EQ(said.substr(0, folder.size()), folder);
      EXPECT_EQ(said.find(folder + "plan.json:", 1), std::string::npos) << "the place is named twice: " << said;
      return said.substr(folder.size());
    }
    ADD_FAILURE() << "was read: " << text;
    return {};
  }
  /// Of a plan of one kernel with these fields beside its template.
  std::string refusal_of_kernel(const std::string& fields) {
    return refusal_of(R"({"kiln_plan": 1, "kernels": [{"template": )"s + k_template + fields + "}]}");
  }

  test::TempDir dir_;
};

TEST_F(PlanFileTest, NumbersBeyondADouble) {
  EXPECT_EQ(refusal_of("{\"kiln_plan\": 1,\n \"kernels\": 1e999}"),
            "plan.json:2: the number 1e999 is beyond what a double holds, about 1.8e308 either way");
  EXPECT_EQ(refusal_of("-1e400"),
            "plan.json:1: the number -1e400 is beyond what a double holds, about 1.8e308 either way");
}

TEST_F(PlanFileTest, NumbersThatADoubleWouldRoundToZero) {
  EXPECT_EQ(
      refusal_of("{\"kiln_plan\": 1,\n \"kernels\": 1e-999}"),
      "plan.json:2: the number 1e-999 is smaller than what a double holds, about 4.9e-324; give 0 if that will do");
  EXPECT_THAT(refusal_of("-0.0e-999"), testing::Not(testing::HasSubstr("smaller")));
}

TEST_F(PlanFileTest, WhatIsNoJson) {
  EXPECT_EQ(refusal_of(" \n"), "plan.json:1: not JSON: the file is empty");
  EXPECT_THAT(refusal_of("\xff\xfe"), testing::StartsWith("plan.json:1: not JSON: "));
  EXPECT_THAT(refusal_of("{\"" + std::string(5000, 'k')), testing::EndsWith(" bytes)"));
}

TEST_F(PlanFileTest, EmptyLists) {
  EXPECT_EQ(refusal_of(R"({"kiln_plan": 1, "kernels": []})"),
            "plan.json:1: kernels: the list is empty: at least one kernel is wanted");
  EXPECT_EQ(refusal_of(R"({"kiln_plan": 1, "targets": [], "kernels": [{}]})"),
            "plan.json:1: targets: the list is empty: at least one target is wanted");
  EXPECT_EQ(refusal_of_kernel(R"(, "targets": [])"),
            "plan.json:1: kernels[0].targets: the list is empty: at least one target is wanted");
  EXPECT_EQ(refusal_of_kernel(R"(, "values": [])"),
            "plan.json:1: kernels[0].values: the list is empty: at least one set of values is wanted");
  EXPECT_EQ(refusal_of(R"({"kiln_plan": 1, "kernels": [{"permutation": [0], "dtype": []}]})"),
            "plan.json:1: kernels[0].dtype: the list is empty: at least one element type is wanted");
  EXPECT_THAT(
      refusal_of(R"({"kiln_plan": 1, "kernels": [{"template": {"builtin": "permute_direct", "entries": []}}]})"),
      testing::HasSubstr("template.entries: the list is empty: at least one kernel is wanted"));
}

TEST_F(PlanFileTest, ThePlaceIsNamedOnce) {
  EXPECT_EQ(refusal_of("{\"kiln_plan\": 1, \"kernels\": [{\"permutation\": [0,\n\"x\"]}]}"),
            "plan.json:2: kernels[0].permutation[1]: an index is wanted, not the text 'x'");
  EXPECT_EQ(refusal_of(R"({"kiln_plan": 1, "kernels": [{"permutation": [0], "source_size": -1}]})"),
            "plan.json:1: kernels[0].source_size: a whole number from 1 is wanted, not the number -1");
  EXPECT_EQ(refusal_of(R"({"kiln_plan": 1, "targets": [90], "kernels": [{}]})"),
            "plan.json:1: targets[0]: a text is wanted, not the number 90");
  EXPECT_EQ(refusal_of(R"({"kiln_plan": 1, "kernels": [{"template": {"text": "x"}}]})"),
            "plan.json:1: kernels[0].template: \"name\" is missing");
}

TEST_F(PlanFileTest, StrategiesThatThereAreNotOrThatCannot) {
  const auto refusal = [this](const std::string& strategy) {
    return refusal_of("{\"kiln_plan\": 1, \"kernels\": [{\"permutation\": [2, 0, 1],\n\"strategy\": " + strategy +
                      "}]}");
  };
  EXPECT_EQ(
      refusal("\"quick\""),
      "plan.json:2: kernels[0].strategy: strategy is 'quick': it must be one of automatic, direct, staged, tiled, "
      "bucketed, rows, elements");
  EXPECT_EQ(refusal("2"), "plan.json:2: kernels[0].strategy: a text is wanted, not the number 2");
  EXPECT_THAT(refusal("\"tiled\""), testing::StartsWith("plan.json:1: kernels[0]: strategy is tiled: the map does not "
                                                        "swap axes"));
}

TEST_F(PlanFileTest, AStrategyIsTakenInPlaceOfTheChoice) {
  const auto templates = [this](const std::string& more) {
    test::write_file(dir_ / "plan.json",
                     "{\"kiln_plan\": 1, \"kernels\": [{\"permutation\": [2, 0, 1, 3]" + more + "}]}");
    return Plan::read(dir_ / "plan.json", {Target::cubin(90)}).items.at(0).tmpl.name();
  };
  EXPECT_EQ(templates(""), templates(R"(, "strategy": "automatic")"));
  EXPECT_EQ(templates(""), "permute_staged.cu");
  EXPECT_EQ(templates(R"(, "strategy": "direct")"), "permute_direct.cu");
}

TEST_F(PlanFileTest, WhatCannotBeShownIsEscaped) {
  std::string said = refusal_of(R"({"kiln_plan": 1, "kernels": [{"permutation": "a\n\u001b[31m\u0000b"}]})");
  EXPECT_THAT(said, testing::HasSubstr(R"(/a\x0a\x1b[31m\x00b': the name holds a NUL)"));
  EXPECT_EQ(refusal_of("{\"kiln_plan\": 1, \"x\\ny\": 2}"),
            "plan.json:1: x\\x0ay: unknown field; allowed here: kiln_plan, targets, templates, kernels");
}

TEST_F(PlanFileTest, WhatIsNoFile) {
  ASSERT_EQ(::mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  for (const char* name : {"pipe", "/dev/zero", "/"}) {
    EXPECT_THROW(Plan::read(dir_.path() / name, {}), Error) << name;
    test::write_file(dir_ / "plan.json", R"({"kiln_plan": 1, "kernels": [{"permutation": ")"s + name + "\"}]}");
    EXPECT_THROW(Plan::read(dir_ / "plan.json", {Target::cubin(90)}), Error) << name;
    test::write_file(dir_ / "plan.json", R"({"kiln_plan": 1, "kernels": [{"template": ")"s + name + "\"}]}");
    EXPECT_THROW(Plan::read(dir_ / "plan.json", {Target::cubin(90)}), Error) << name;
  }
}

TEST_F(PlanFileTest, AnEmptyPlanIsNotPrecompiled) {
  try {
    PrecompileOptions options;
    options.output = dir_ / "out.kilnpack";
    options.targets = {Target::cubin(90)};
    precompile(Plan{}, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the plan is empty: it needs at least one kernel");
  }
  EXPECT_FALSE(std::filesystem::exists(dir_ / "out.kilnpack"));
}

TEST_F(PlanFileTest, APermutationsRowsMayBePitchedAndInPlace) {
  const auto items_of = [&](const std::string& fields) {
    test::write_file(dir_ / "plan.json", R"({"kiln_plan": 1, "kernels": [{"permutation": [2, 0, 1])"s + fields + "}]}");
    return Plan::read(dir_ / "plan.json", {Target::cubin(90)}).items;
  };
  const auto values_of = [&](const PermuteShape& shape) {
    return plan_permute(IndexMap::parse("2,0,1", "map"), shape, Target::cubin(90)).values;
  };
  const std::vector<PlanItem> pitched = items_of(R"(, "row_stride_in": 4, "row_stride_out": 5)");
  ASSERT_EQ(pitched.size(), 1U);
  EXPECT_EQ(pitched.front().tmpl.name(), "permute_rows.cu");
  EXPECT_EQ(pitched.front().values, values_of({.row_stride_in = 4, .row_stride_out = 5}));
  EXPECT_EQ(items_of(R"(, "in_place": true)").front().values, values_of({.in_place = true}));
  EXPECT_EQ(items_of(R"(, "in_place": false, "row_stride_in": 0)").front().values, values_of({}));
}

TEST_F(PlanFileTest, APermutationMayHaveAnEnding) {
  test::write_file(dir_ / "plan.json",
                   R"({"kiln_plan": 1, "kernels": [{"permutation": [2, 0, 1], "dtype": ["f32", "f16"],
      "to_dtype": "e4m3", "ending": "value * scale[position]", "lists": {"scale": [1, 0.5, "inf"]}}]})");
  const std::vector<PlanItem> items = Plan::read(dir_ / "plan.json", {Target::cubin(90)}).items;
  ASSERT_EQ(items.size(), 2U);
  PermuteEnding ending{.from = "f32", .to = "e4m3", .expression = "value * scale[position]"};
  ending.lists["scale"] = {1.0F, 0.5F, std::numeric_limits<float>::infinity()};
  const IndexMap map = IndexMap::parse("2,0,1", "map");
  EXPECT_EQ(items[0].values, plan_permute(map, {.ending = ending}, Target::cubin(90)).values);
  ending.from = "f16";
  EXPECT_EQ(items[1].values, plan_permute(map, {.element_bytes = 2, .ending = ending}, Target::cubin(90)).values);
}

TEST_F(PlanFileTest, EndingsThatCannotBe) {
  const auto refusal_with = [&](const std::string& fields) {
    return refusal_of(R"({"kiln_plan": 1, "kernels": [{"permutation": [1, 0])"s + fields + "}]}");
  };
  EXPECT_THAT(refusal_with(R"(, "to_dtype": "f17")"), testing::HasSubstr("kernels[0]: ending.to is 'f17'"));
  EXPECT_THAT(refusal_with(R"(, "ending": "value;")"), testing::HasSubstr("has a ';'"));
  EXPECT_THAT(refusal_with(R"(, "lists": {"a": [1, 1e39]})"),
              testing::HasSubstr("kernels[0].lists.a: 1e+39 is beyond"));
  EXPECT_THAT(refusal_with(R"(, "lists": {"a": [1e-50]})"), testing::HasSubstr("kernels[0].lists.a: 1e-50 is beyond"));
  EXPECT_THAT(refusal_with(R"(, "lists": {"a": ["x"]})"), testing::HasSubstr("kernels[0].lists.a[0]"));
  EXPECT_THAT(refusal_with(R"(, "lists": {"a b": [1]})"), testing::HasSubstr("is no name in C++"));
  EXPECT_THAT(refusal_with(R"(, "lists": {"xor": [1]})"), testing::HasSubstr("'xor', which is a word of C++"));
}

TEST_F(PlanFileTest, RowsThatCannotBe) {
  const auto refusal_with = [&](const std::string& fields) {
    return refusal_of(R"({"kiln_plan": 1, "kernels": [{"permutation": [1, 1])"s + fields + "}]}");
  };
  EXPECT_EQ(refusal_with(R"(, "row_stride_in": 1)"),
            "plan.json:1: kernels[0]: row_stride_in is 1: a row has 2 elements, so it must be at least that, or 0 for "
            "dense rows");
  EXPECT_THAT(refusal_with(R"(, "in_place": true)"), testing::HasSubstr("is no permutation"));
  EXPECT_EQ(refusal_with(R"(, "in_place": 1)"),
            "plan.json:1: kernels[0].in_place: true or false is wanted, not the number 1");
  EXPECT_THAT(refusal_with(R"(, "row_stride_out": -4)"), testing::StartsWith("plan.json:1: kernels[0].row_stride_out"));
}

}  // namespace
}  // namespace kiln
