// Plans that cannot be used: found while reading, with file, line and path, before any compiler is looked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.hpp"

namespace kiln::test {
namespace {

using testing::HasSubstr;

struct Wrong {
  std::string plan;
  std::vector<std::string> named;
};

class Plans : public testing::TestWithParam<Wrong> {};

TEST_P(Plans, ThatAreWrongNameFileLineAndField) {
  Program program;
  program.hide_nvrtc();
  program.file("lookup.cu", k_lookup_template);
  program.file("bad_map.json", "[0, 1,\n 1.5]");
  std::string plan = program.file("plan.json", GetParam().plan);
  std::string pack = (program.home() / "kernels.kilnpack").string();
  Finished finished = program.run({"precompile", plan, "-o", pack, "--target", "sm_90"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, HasSubstr("plan.json"));
  for (const std::string& part : GetParam().named) {
    EXPECT_THAT(finished.err, HasSubstr(part));
  }
  EXPECT_FALSE(std::filesystem::exists(pack));
}

INSTANTIATE_TEST_SUITE_P(
    All, Plans,
    testing::Values(
        Wrong{"", {"plan.json:1: not JSON"}},                                         //
        Wrong{"{\n\"kiln_plan\": 1,\n\"kernels\": [,]}", {"plan.json:3: not JSON"}},  //
        Wrong{"[]", {"plan.json:1: an object is wanted, not a list"}},
        Wrong{"{\"kernels\": []}", {"plan.json:1: \"kiln_plan\" is missing"}},
        Wrong{"{\"kiln_plan\": 2,\n\"kernels\": []}", {"plan.json:1: kiln_plan: ", "format 1"}},
        Wrong{"{\"kiln_plan\": 1}", {"\"kernels\" is missing"}},
        Wrong{"{\"kiln_plan\": 1,\n\"kernels\": [\n{\"permutation\": [1,0],\n \"colour\": 1}]}",
              {"plan.json:4: kernels[0].colour: unknown field", "dtype"}},
        Wrong{"{\"kiln_plan\": 1,\n\"templates\": {\"a\": {\"file\": \"lookup.cu\",\n\"options\": "
              "[\"-I/x\"]}},\n\"kernels\": []}",
              {"plan.json:3: templates.a.options: option '-I/x' is reserved by Kiln"}},
        Wrong{"{\"kiln_plan\": 1,\n\"kernels\": [{\"template\": {\"file\": \"lookup.cu\", \"options\": [\"-std\"]}}]}",
              {"plan.json:2: kernels[0].template.options: option '-std' takes a value"}},
        Wrong{"{\"kiln_plan\": 1, \"kernels\": [],\n\"kernels\": []}", {"plan.json:2: ", "twice"}},
        Wrong{"{\"kiln_plan\": 1,\n\"kernels\": [\n\n{\"template\":\n\"missing.cu\"}]}",
              {"plan.json:5: kernels[0].template: ", "missing.cu"}},
        Wrong{"{\"kiln_plan\": 1,\n\"templates\": {\"a\": {\"builtin\": \"no_such\"}},\n\"kernels\": []}",
              {"plan.json:2: templates.a.builtin: ", "no_such"}},
        Wrong{"{\"kiln_plan\": 1,\n\"kernels\": [{\"template\": \"lookup.cu\",\n\"values\": {\"element\": \"float\",\n"
              "\"table\": [70000]}}]}",
              {"plan.json:4: kernels[0].values.table: ", "70000"}},
        Wrong{"{\"kiln_plan\": 1,\n\"kernels\": [{\"template\": \"lookup.cu\",\n\"values\": {\"element\": \"float\",\n"
              "\"table\": 3}}]}",
              {"plan.json:4: kernels[0].values.table: a list is wanted, not the number 3"}},
        Wrong{
            "{\"kiln_plan\": 1,\n\"kernels\": [{\"template\": \"lookup.cu\",\n\"values\": {\"element\": \"float\"}}]}",
            {"plan.json:3: kernels[0].values: ", "table"}},
        Wrong{"{\"kiln_plan\": 1,\n\"kernels\": [{\"template\": \"lookup.cu\",\n\"values\": [{\"table\": [1], "
              "\"element\": "
              "\"int\"},\n{\"width\": 1}]}]}",
              {"plan.json:4: kernels[0].values[1].width: ", "no such parameter", "factor"}},
        Wrong{"{\"kiln_plan\": 1,\n\"kernels\": [{\"permutation\": [0,\n-1]}]}", {"kernels[0].permutation: ", "-1"}},
        Wrong{"{\"kiln_plan\": 1,\n\"kernels\": [{\"permutation\": [0,\n\"x\"]}]}",
              {"plan.json:3: kernels[0].permutation[1]: an index is wanted, not the text 'x'"}},
        Wrong{"{\"kiln_plan\": 1,\n\"kernels\": [{\"permutation\": \"bad_map.json\"}]}",
              {"plan.json:2: kernels[0].permutation: ", "bad_map.json", "1.5"}},
        Wrong{"{\"kiln_plan\": 1,\n\"kernels\": [{\"permutation\": [1,0],\n\"dtype\": [\"f32\", \"f33\"]}]}",
              {"plan.json:3: kernels[0].dtype[1]: ", "f33", "bf16"}},
        Wrong{"{\"kiln_plan\": 1,\n\"kernels\": [{\"permutation\": [1,0],\n\"targets\": [\"sm_90\", \"sm90\"]}]}",
              {"plan.json:3: kernels[0].targets[1]: ", "sm90"}},
        Wrong{"{\"kiln_plan\": 1,\n\"kernels\": [{\"permutation\": [1,0],\n\"targets\": [\"native\"]}]}",
              {"plan.json:3: kernels[0].targets[0]: ", "without a GPU"}}));

TEST(PlanFile, ThatIsMissingIsNamed) {
  Finished finished = Program().run({"precompile", "missing.json", "-o", "a.kilnpack", "--target", "sm_90"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.err, HasSubstr("missing.json"));
}

TEST(PlanFile, APermutationWithoutAnyTargetSaysWhereToGiveOne) {
  Program program;
  std::string plan = program.file("plan.json", R"({"kiln_plan": 1, "kernels": [{"permutation": [1, 0]}]})");
  Finished finished = program.run({"precompile", plan, "-o", "a.kilnpack"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.err, HasSubstr("plan.json:1: kernels[0]: "));
  EXPECT_THAT(finished.err, HasSubstr("--target"));
}

}  // namespace
}  // namespace kiln::test
