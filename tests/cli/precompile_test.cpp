#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>

#include "cli/nvrtc_program.hpp"

namespace kiln::test {
namespace {

using testing::HasSubstr;

const std::vector<std::string> k_maps{"bit_reversal_1024.json", "kernelbench_27.json", "nchw_to_nhwc.json",
                                      "rgb_to_bgr.json", "rotary_interleave_128.json"};
const std::vector<std::string> k_targets{"sm_80", "sm_90a", "sm_100", "sm_120"};

std::vector<std::string> with_targets(std::vector<std::string> arguments) {
  for (const std::string& target : k_targets) {
    arguments.insert(arguments.end(), {"--target", target});
  }
  return arguments;
}

class PrecompileCommand : public NvrtcProgram {
 protected:
  std::string pack() const { return (program_.home() / "kernels.kilnpack").string(); }

  /// Every map of examples/data.
  std::string plan_of_maps() const {
    Json kernels = Json::array();
    for (const std::string& map : k_maps) {
      kernels.push_back({{"permutation", source_path("examples/data/" + map)}, {"dtype", "f32"}});
    }
    return program_.file("plan.json", Json{{"kiln_plan", 1}, {"kernels", kernels}}.dump());
  }
};

TEST_F(PrecompileCommand, APlanOfEveryMapServesStrictlyWithNvrtcHidden) {
  Finished made = program_.run(with_targets({"precompile", plan_of_maps(), "-o", pack(), "-j", "2", "--json"}));
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.err, "") << "--json shows no progress";
  EXPECT_EQ(made.line().at("compiled"), k_maps.size() * k_targets.size());
  EXPECT_EQ(made.line().at("failed"), 0);
  EXPECT_EQ(program_.entries(), 0) << "the user cache is left alone";

  program_.hide_nvrtc();
  program_.set("KILN_PACKS", pack());
  program_.set("KILN_STRICT", "1");
  for (const std::string& map : k_maps) {
    Finished served =
        program_.run(with_targets({"permute", "--indices", source_path("examples/data/" + map), "--json"}));
    EXPECT_EQ(served.code, 0) << served.err;
    ASSERT_EQ(served.lines().size(), k_targets.size());
    for (const Json& line : served.lines()) {
      EXPECT_EQ(line.at("outcome"), "pack") << map;
    }
  }
  EXPECT_EQ(program_.entries(), 0);
  EXPECT_EQ(program_.run({"query", "--json"}).lines().size(), k_maps.size() * k_targets.size());

  Finished missed = program_.run({"permute", "--indices", "1,0", "--target", "sm_90"});
  EXPECT_EQ(missed.code, 1);
  EXPECT_THAT(missed.err, HasSubstr("strict"));
}

TEST_F(PrecompileCommand, SkipsWhatThePackHasAndAddsTheRest) {
  std::string plan = program_.file("plan.json", R"({"kiln_plan": 1, "kernels": [{"permutation": [2, 1, 0]}]})");
  Json first = program_.run({"precompile", plan, "-o", pack(), "--target", "sm_80", "--json"}).line();
  EXPECT_EQ(first.at("compiled"), 1);
  Json second =
      program_.run({"precompile", plan, "-o", pack(), "--target", "sm_80", "--target", "sm_90", "--json"}).line();
  EXPECT_EQ(second.at("present"), 1);
  EXPECT_EQ(second.at("compiled"), 1);
}

TEST_F(PrecompileCommand, ListsWhatDoesNotCompileAndGoesOn) {
  program_.file("broken.cu", "// kiln: entry broken\n__global__ void broken() { no }\n");
  std::string plan = program_.file(
      "plan.json",
      R"({"kiln_plan": 1, "targets": ["sm_90"], "kernels": [{"template": "broken.cu"}, {"permutation": [1, 0]}]})");
  Finished finished = program_.run({"precompile", plan, "-o", pack()});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.out, HasSubstr("1 compiled, 0 present, 1 failed"));
  EXPECT_THAT(finished.err, HasSubstr("broken.cu"));
  EXPECT_THAT(finished.err, HasSubstr("error"));
  Json again = program_.run({"precompile", plan, "-o", pack(), "--json"}).line();
  EXPECT_EQ(again.at("present"), 1);
  EXPECT_EQ(again.at("failures").size(), 1);
  EXPECT_EQ(again.at("failures")[0].at("target"), "sm_90");
}

TEST_F(PrecompileCommand, MakesNoPackOfNothingAndKeepsOneThatIsThere) {
  program_.file("broken.cu", "// kiln: entry broken\n__global__ void broken() { no }\n");
  std::string plan =
      program_.file("plan.json", R"({"kiln_plan": 1, "targets": ["sm_90"], "kernels": [{"template": "broken.cu"}]})");
  Finished finished = program_.run({"precompile", plan, "-o", pack()});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.out, HasSubstr("1 failed, no pack was made"));
  EXPECT_EQ(program_.run({"precompile", plan, "-o", pack(), "--json"}).line().at("output"), nullptr);
  for (const char* suffix : {"", ".partial", ".new"}) {
    EXPECT_FALSE(std::filesystem::exists(pack() + suffix)) << suffix;
  }
  std::string sound = program_.file("sound.json", R"({"kiln_plan": 1, "kernels": [{"permutation": [2, 1, 0]}]})");
  ASSERT_EQ(program_.run({"precompile", sound, "-o", pack(), "--target", "sm_80"}).code, 0);
  const std::string before = read_file(pack());
  Finished again = program_.run({"precompile", plan, "-o", pack(), "--json"});
  EXPECT_EQ(again.code, 1);
  EXPECT_EQ(again.line().at("output"), pack());
  EXPECT_EQ(read_file(pack()), before);
}

TEST_F(PrecompileCommand, ShowsLinesWhereThereIsNoTerminal) {
  std::string plan = program_.file("plan.json", R"({"kiln_plan": 1, "kernels": [{"permutation": [1, 0]}]})");
  Finished finished = program_.run({"precompile", plan, "-o", pack(), "--target", "sm_90"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.err, HasSubstr("1/1 kernels"));
  EXPECT_THAT(finished.err, testing::Not(HasSubstr("\r")));
}

TEST_F(PrecompileCommand, WithoutNvrtcExitsThreeAndMakesNoPack) {
  program_.hide_nvrtc();
  std::string plan = program_.file("plan.json", R"({"kiln_plan": 1, "kernels": [{"permutation": [1, 0]}]})");
  EXPECT_EQ(program_.run({"precompile", plan, "-o", pack(), "--target", "sm_90"}).code, 3);
  EXPECT_FALSE(std::filesystem::exists(pack()));
}

TEST_F(PrecompileCommand, APackThatIsTruncatedOrNoPackIsNamedAndLeftOut) {
  std::string plan = program_.file("plan.json", R"({"kiln_plan": 1, "kernels": [{"permutation": [2, 1, 0]}]})");
  ASSERT_EQ(program_.run({"precompile", plan, "-o", pack(), "--target", "sm_90", "--json"}).code, 0);
  std::string whole = read_file(pack());
  for (const std::string& content : {whole.substr(0, whole.size() / 2), whole.substr(0, 100), std::string("no pack")}) {
    write_file(pack(), content);
    program_.set("KILN_PACKS", pack());
    Finished finished = program_.run({"permute", "--indices", "2,1,0", "--target", "sm_90", "--json"});
    EXPECT_EQ(finished.code, 0) << "a broken pack never fails a request";
    EXPECT_THAT(finished.line().at("outcome"), testing::AnyOf("compiled", "disk"));
    EXPECT_THAT(finished.err, HasSubstr("kernels.kilnpack"));
    program_.unset("KILN_PACKS");
    Finished onto = program_.run({"precompile", plan, "-o", pack(), "--target", "sm_90"});
    EXPECT_EQ(onto.code, 1);
    EXPECT_THAT(onto.err, HasSubstr("kernels.kilnpack"));
    EXPECT_EQ(read_file(pack()), content) << "what was there is left alone";
  }
}

TEST_F(PrecompileCommand, WhatIsOnlyCalledAPackIsLeftAloneWithARemedyThatFits) {
  std::string plan = program_.file("plan.json", R"({"kiln_plan": 1, "kernels": [{"permutation": [2, 1, 0]}]})");
  std::string garbage = program_.file("garbage", std::string(5000, 'g'));
  Finished finished = program_.run({"precompile", plan, "-o", garbage, "--target", "sm_90"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.err, HasSubstr("name another file"));
  EXPECT_THAT(finished.err, testing::Not(HasSubstr("kiln precompile")));
  EXPECT_EQ(read_file(garbage), std::string(5000, 'g'));
}

TEST_F(PrecompileCommand, AWrongOutputIsTheFirstThingSaid) {
  std::string plan = program_.file("plan.json", R"({"kiln_plan": 1, "kernels": [{"permutation": [2, 1, 0]}]})");
  Finished finished =
      program_.run({"precompile", plan, "-o", (program_.home() / "no/pack").string(), "--target", "sm_90"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.err, HasSubstr("cannot be made: there is no such file or folder"));
}

TEST_F(PrecompileCommand, WritesThroughALinkAndKeepsTheModeOfWhatWasThere) {
  std::string plan = program_.file("plan.json", R"({"kiln_plan": 1, "kernels": [{"permutation": [2, 1, 0]}]})");
  std::filesystem::create_directory(program_.home() / "real");
  std::filesystem::create_symlink("real/a.kilnpack", pack());
  ASSERT_EQ(program_.run({"precompile", plan, "-o", pack(), "--target", "sm_90"}).code, 0);
  std::filesystem::permissions(pack(), std::filesystem::perms(0640));
  ASSERT_EQ(program_.run({"precompile", plan, "-o", pack(), "--target", "sm_80"}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(pack()));
  EXPECT_EQ(std::filesystem::status(program_.home() / "real/a.kilnpack").permissions(), std::filesystem::perms(0640));
  program_.run({"import", pack()});
  EXPECT_EQ(program_.entries(), 2);
  ASSERT_EQ(program_.run({"export", pack()}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(pack()));
}

TEST_F(PrecompileCommand, AndExportLeaveAloneWhatKilnDidNotMake) {
  std::string plan = program_.file("plan.json", R"({"kiln_plan": 1, "kernels": [{"permutation": [2, 1, 0]}]})");
  ASSERT_EQ(program_.run({"permute", "--indices", "1,0", "--target", "sm_80"}).code, 0);
  for (const std::string& theirs : {pack() + ".partial", pack() + ".new"}) {
    write_file(theirs, "precious");
    std::vector<std::vector<std::string>> commands{{"precompile", plan, "-o", pack(), "--target", "sm_80"}};
    if (theirs.ends_with(".new")) {
      commands.push_back({"export", pack()});
    }
    for (const std::vector<std::string>& command : commands) {
      Finished finished = program_.run(command);
      EXPECT_EQ(finished.code, 1) << command.front();
      EXPECT_THAT(finished.err, HasSubstr("'" + theirs + "' is in the way"));
      EXPECT_EQ(read_file(theirs), "precious");
      EXPECT_FALSE(std::filesystem::exists(pack()));
    }
    std::filesystem::remove(theirs);
  }
}

TEST_F(PrecompileCommand, ASignalLeavesWhatWasCompiledAndTheNextRunGoesOn) {
  Json kernels = Json::array();
  for (int last = 2; last < 300; ++last) {
    kernels.push_back({{"permutation", {1, 0, last}}});
  }
  std::string plan = program_.file("plan.json", Json{{"kiln_plan", 1}, {"kernels", kernels}}.dump());
  std::vector<std::string> command{"precompile", plan, "-o", pack(), "--target", "sm_90"};
  std::string partial = pack() + ".partial";
  auto some = [&] {
    std::error_code error;
    return std::filesystem::file_size(partial, error) > 60000 && !error;
  };
  for (int signal : {SIGINT, SIGTERM}) {
    std::filesystem::remove(partial);
    Finished stopped = program_.run_and_stop(command, signal, some);
    EXPECT_EQ(stopped.code, -signal);
    EXPECT_THAT(stopped.err, HasSubstr(partial));
    EXPECT_FALSE(std::filesystem::exists(pack()));
    EXPECT_FALSE(std::filesystem::exists(pack() + ".new"));
    EXPECT_TRUE(std::filesystem::exists(partial));
  }
  // The rest would take long: what is there is enough to see that it is taken up.
  program_.file("plan.json", Json{{"kiln_plan", 1}, {"kernels", {kernels[0], kernels[297]}}}.dump());
  Json result = program_.run({"precompile", plan, "-o", pack(), "--target", "sm_90", "--json"}).line();
  EXPECT_EQ(result.at("present"), 1);
  EXPECT_EQ(result.at("compiled"), 1);
  EXPECT_FALSE(std::filesystem::exists(partial));
}

}  // namespace
}  // namespace kiln::test
