// KILN_RECORD: the requests an application makes, as a plan.
#include <gmock/gmock.h>

#include <thread>

#include "cli/nvrtc_program.hpp"

namespace kiln::test {
namespace {

using testing::HasSubstr;

using Recording = NvrtcProgram;

TEST_F(Recording, RecordedRequestsAreServedFromTheirPack) {
  std::string plan = (program_.home() / "recorded.json").string();
  std::string pack = (program_.home() / "kernels.kilnpack").string();
  std::string lookup = program_.file("lookup.cu", k_lookup_template);
  std::vector<std::string> permute{"permute", "--indices", "2,1,0",  "--target",
                                   "sm_80",   "--target",  "sm_90a", "--json"};
  std::vector<std::string> compile{"compile", lookup,       "-D",       "table=3,0,65535", "-D",    "element=double",
                                   "-D",      "factor=inf", "--target", "sm_90",           "--json"};
  program_.set("KILN_RECORD", plan);
  for (int run = 0; run < 2; ++run) {  // the second finds everything recorded already
    EXPECT_EQ(program_.run(permute).code, 0);
    EXPECT_EQ(program_.run(compile).code, 0);
  }
  program_.unset("KILN_RECORD");
  Json recorded = Json::parse(read_file(plan));
  EXPECT_EQ(recorded.at("kernels").size(), 3);

  std::filesystem::remove(lookup);  // the plan needs none of the files the templates came from
  Finished made = program_.run({"precompile", plan, "-o", pack, "--json"});
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.line().at("compiled"), 3);

  program_.file("lookup.cu", k_lookup_template);
  EXPECT_EQ(program_.run({"clear"}).out, "removed 3 kernels\n");
  program_.hide_nvrtc();
  program_.set("KILN_PACKS", pack);
  program_.set("KILN_STRICT", "1");
  for (const auto& request : {permute, compile}) {
    for (const Json& line : program_.run(request).lines()) {
      EXPECT_EQ(line.at("outcome"), "pack");
    }
  }
}

TEST_F(Recording, ByManyProcessesAtOnceLosesNothing) {
  std::string plan = (program_.home() / "recorded.json").string();
  program_.set("KILN_RECORD", plan);
  constexpr int k_processes = 8;
  std::vector<std::thread> threads;
  for (int i = 0; i < k_processes; ++i) {
    threads.emplace_back([this, i] {
      // Two of each request, so that some are recorded by two processes.
      std::string indices = std::to_string(i / 2) + ",0";
      EXPECT_EQ(program_.run({"permute", "--indices", indices, "--source-size", "9", "--target", "sm_90"}).code, 0);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  Json recorded = Json::parse(read_file(plan));
  EXPECT_EQ(recorded.at("kernels").size(), k_processes / 2);
  EXPECT_EQ(recorded.at("kiln_plan"), 1);
  int beside = 0;
  for (const auto& entry : std::filesystem::directory_iterator(program_.home().path())) {
    beside += entry.path().filename().string().starts_with("recorded.json") ? 1 : 0;
  }
  EXPECT_EQ(beside, 1) << "no file is left beside the plan";
}

TEST_F(Recording, LeavesAFileThatIsNoPlanAloneAndSaysSo) {
  std::string precious = program_.file("precious.json", R"({"precious": true})");
  for (const std::string& file : {precious, std::string("/nonexistent/plan.json")}) {
    program_.set("KILN_RECORD", file);
    Finished finished = program_.run({"permute", "--indices", "1,0", "--target", "sm_90"});
    EXPECT_EQ(finished.code, 0) << "recording never fails a request";
    EXPECT_THAT(finished.err, HasSubstr("kiln: warning: "));
    EXPECT_THAT(finished.err, HasSubstr(file));
  }
  EXPECT_EQ(read_file(precious), R"({"precious": true})");
}

}  // namespace
}  // namespace kiln::test
