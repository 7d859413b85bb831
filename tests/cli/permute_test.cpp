#include <gmock/gmock.h>

#include "cli/nvrtc_program.hpp"

namespace kiln::test {
namespace {

using testing::HasSubstr;

class PermuteCommand : public NvrtcProgram {
 protected:
  /// The outcome for each target.
  std::vector<std::string> outcomes(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"permute",  "--indices", source_path("examples/data/kernelbench_27.json"),
                                       "--rows",   "10",        "--dtype",
                                       "f32",      "--target",  "sm_80",
                                       "--target", "sm_90a",    "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::vector<std::string> outcomes;
    for (const Json& line : program_.run(arguments).lines()) {
      outcomes.push_back(line.at("outcome"));
    }
    return outcomes;
  }
};

TEST_F(PermuteCommand, CompilesOncePerTargetAndThenServesFromDisk) {
  EXPECT_THAT(outcomes(), testing::ElementsAre("compiled", "compiled"));
  EXPECT_EQ(program_.entries(), 2);
  EXPECT_THAT(outcomes(), testing::ElementsAre("disk", "disk"));
  EXPECT_EQ(program_.entries(), 2);
  EXPECT_THAT(outcomes({"--target", "sm_100"}), testing::ElementsAre("disk", "disk", "compiled"));
  EXPECT_EQ(program_.entries(), 3);
}

TEST_F(PermuteCommand, AHitNeedsNoCompiler) {
  EXPECT_THAT(outcomes(), testing::ElementsAre("compiled", "compiled"));
  program_.hide_nvrtc();
  EXPECT_THAT(outcomes(), testing::ElementsAre("disk", "disk"));
}

TEST_F(PermuteCommand, PrintsEveryFieldOfTheDesign) {
  Json line = program_.run({"permute", "--indices", "2,1,0", "--target", "sm_90", "--json"}).line();
  EXPECT_EQ(line.at("key").get<std::string>().size(), 32);
  EXPECT_EQ(line.at("target"), "sm_90");
  EXPECT_EQ(line.at("kind"), "cubin");
  EXPECT_GT(line.at("image_bytes"), 0);
  EXPECT_GT(line.at("compile_ms"), 0.0);
  EXPECT_GT(line.at("lookup_us"), 0.0);
  EXPECT_GT(line.at("registers"), 0);
  EXPECT_EQ(line.at("spill_bytes"), 0);
  EXPECT_THAT(line.at("compiler"), testing::StartsWith("nvrtc "));
  EXPECT_THAT(line.at("strategy"), testing::AnyOf("direct", "staged"));
  EXPECT_EQ(line.at("elements"), line.at("rows").get<int>() * 3);
}

TEST_F(PermuteCommand, PtxTargetsGivePtx) {
  Json line = program_.run({"permute", "--indices", "2,1,0", "--target", "compute_90", "--json"}).line();
  EXPECT_EQ(line.at("kind"), "ptx");
}

TEST_F(PermuteCommand, NoRowsAreASuccess) {
  Finished finished = program_.run({"permute", "--indices", "2,1,0", "--rows", "0", "--target", "sm_90", "--json"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.line().at("elements"), 0);
}

TEST_F(PermuteCommand, ATargetTheCompilerDoesNotKnowListsThoseItKnows) {
  Finished finished = program_.run({"permute", "--indices", "2,1,0", "--target", "sm_21"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.err, HasSubstr("sm_21"));
  EXPECT_THAT(finished.err, HasSubstr("sm_90"));
  EXPECT_EQ(program_.entries(), 0);
}

TEST_F(PermuteCommand, WithoutNvrtcAMissExitsThreeAndNamesEveryPlace) {
  program_.hide_nvrtc();
  Finished finished = program_.run({"permute", "--indices", "2,1,0", "--target", "sm_90"});
  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.err, HasSubstr("/nonexistent/libnvrtc.so"));
}

TEST_F(PermuteCommand, StrictModeTurnsAMissIntoAnError) {
  program_.set("KILN_STRICT", "1");
  Finished finished = program_.run({"permute", "--indices", "2,1,0", "--target", "sm_90"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.err, HasSubstr("strict"));
}

TEST_F(PermuteCommand, ACacheDirectoryThatCannotBeMadeCostsACompileAndAWarning) {
  std::string blocked = program_.file("file", "") + "/cache";
  std::vector<std::string> arguments{"permute", "--indices", "2,1,0",   "--target",
                                     "sm_90",   "--json",    "--cache", blocked};
  for (int run = 0; run < 2; ++run) {
    Finished finished = program_.run(arguments);
    EXPECT_EQ(finished.code, 0);
    EXPECT_EQ(finished.line().at("outcome"), "compiled");
    EXPECT_THAT(finished.err, HasSubstr("kiln: warning: "));
    EXPECT_THAT(finished.err, HasSubstr(blocked));
  }
}

}  // namespace
}  // namespace kiln::test
