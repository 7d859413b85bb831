// `permute --emulate`: the generated kernel runs on the CPU.
#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "cli/nvrtc_program.hpp"

namespace kiln::test {
namespace {

using EmulateOption = NvrtcProgram;

TEST_F(EmulateOption, ThreeTargetsAreCompiledVerifiedAndThenServedFromDisk) {
  std::vector<std::string> arguments{"permute",  "--indices", source_path("examples/data/kernelbench_27.json"),
                                     "--rows",   "10",        "--dtype",
                                     "f32",      "--target",  "sm_80",
                                     "--target", "sm_90a",    "--target",
                                     "sm_100",   "--emulate", "--json"};
  for (const char* outcome : {"compiled", "disk"}) {
    Finished finished = program_.run(arguments);
    EXPECT_EQ(finished.code, 0) << finished.err;
    std::vector<Json> lines = finished.lines();
    ASSERT_EQ(lines.size(), 3);
    for (const Json& line : lines) {
      EXPECT_EQ(line.at("outcome"), outcome);
      EXPECT_EQ(line.at("verified"), "emulation");
      EXPECT_EQ(line.at("rows"), 10);
      EXPECT_EQ(line.at("elements"), 360);
    }
    EXPECT_EQ(program_.run({"query", "--json"}).lines().size(), 3);
  }
}

TEST_F(EmulateOption, EveryElementSizeIsVerified) {
  for (const char* dtype : {"u8", "f16", "f32", "f64", "b128"}) {
    Finished finished = program_.run({"permute", "--indices", "4,0,3,3,1", "--source-size", "7", "--inner", "3",
                                      "--rows", "33", "--dtype", dtype, "--target", "sm_90", "--emulate", "--json"});
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(finished.line().at("verified"), "emulation") << dtype;
    EXPECT_EQ(finished.line().at("elements"), 33 * 5 * 3);
  }
}

TEST_F(EmulateOption, PitchedAndInPlaceRowsAreVerified) {
  const std::vector<std::vector<std::string>> ways = {
      {"--row-stride-in", "17"},
      {"--row-stride-out", "40", "--row-stride-in", "17"},
      {"--in-place"},
      {"--in-place", "--row-stride-in", "17", "--row-stride-out", "17"}};
  for (const std::vector<std::string>& way : ways) {
    std::vector<std::string> arguments{"permute",  "--indices", "4,0,3,2,1", "--inner", "3",         "--dtype", "f16",
                                       "--target", "sm_90",     "--target",  "sm_75",   "--emulate", "--json"};
    arguments.insert(arguments.end(), way.begin(), way.end());
    Finished finished = program_.run(arguments);
    EXPECT_EQ(finished.code, 0) << finished.err;
    for (const Json& line : finished.lines()) {
      EXPECT_EQ(line.at("verified"), "emulation") << finished.out;
      EXPECT_EQ(line.at("strategy"), "rows");
      EXPECT_EQ(line.at("elements"), 1024 * 5 * 3);
    }
  }
}

TEST_F(EmulateOption, EndingsAreVerified) {
  const std::vector<std::vector<std::string>> ways = {
      {"--to-dtype", "e4m3"},
      {"--ending", "value * 2 + bias[position]", "--list", "bias=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"},
      {"--to-dtype", "f64", "--ending", "position < 3 ? -value : value", "--row-stride-out", "17"},
      {"--in-place", "--to-dtype", "i16", "--row-stride-in", "16", "--row-stride-out", "16"}};
  for (const std::vector<std::string>& way : ways) {
    std::vector<std::string> arguments{"permute", "--indices", "4,0,3,2,1", "--inner",   "3",     "--dtype",
                                       "f16",     "--target",  "sm_90",     "--emulate", "--json"};
    arguments.insert(arguments.end(), way.begin(), way.end());
    Finished finished = program_.run(arguments);
    EXPECT_EQ(finished.code, 0) << finished.err;
    EXPECT_EQ(finished.line().at("verified"), "emulation") << finished.out;
    EXPECT_EQ(finished.line().at("strategy"), "rows");
  }
}

TEST_F(EmulateOption, AnEndingThatDoesNotCompileShowsItsOwnLines) {
  Finished finished = program_.run(
      {"permute", "--indices", "2,1,0", "--ending", "value *\n  nothing[position]", "--target", "sm_90", "--emulate"});
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.err, testing::HasSubstr("ending.h(2): error"));
  EXPECT_THAT(finished.err, testing::HasSubstr("nothing"));
  EXPECT_THAT(finished.err, testing::HasSubstr("\n    nothing[position])\n"));
}

TEST_F(EmulateOption, AnEndingThatIsNotFinishedIsSaidSo) {
  for (const char* ending : {"value +", "value + // more"}) {
    Finished finished =
        program_.run({"permute", "--indices", "2,1,0", "--ending", ending, "--target", "sm_90", "--emulate"});
    EXPECT_EQ(finished.code, 1) << ending;
    EXPECT_THAT(finished.err, testing::ContainsRegex("kiln/code/ending.h.[12].: error: expected an expression"));
    EXPECT_THAT(finished.err, testing::Not(testing::HasSubstr("ending.cuh(")));
  }
}

TEST_F(EmulateOption, OfRowsThatAreFarApartOneIsVerified) {
  Finished finished = program_.run({"permute", "--indices", "2,1,0", "--row-stride-out", "1000000000000", "--target",
                                    "sm_90", "--emulate", "--json"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.line().at("rows"), 1);
}

TEST_F(EmulateOption, SaysInWordsWhereItWasVerified) {
  Finished finished = program_.run({"permute", "--indices", "2,1,0", "--target", "sm_90", "--emulate"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, testing::HasSubstr("verified by emulation"));
}

TEST_F(EmulateOption, WithoutAHostCompilerExitsThree) {
  program_.set("KILN_HOST_CXX", "/nonexistent/c++");
  Finished finished = program_.run({"permute", "--indices", "2,1,0", "--target", "sm_90", "--emulate"});
  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.err, testing::HasSubstr("/nonexistent/c++"));
}

TEST_F(EmulateOption, ASignalLeavesNoTemporaryFiles) {
  std::filesystem::path folder = program_.home() / "temporary";
  std::filesystem::create_directory(folder);
  program_.set("TMPDIR", folder.string());
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Finished stopped =
        program_.run_and_stop({"permute", "--indices", "2,1,0", "--rows", "1000000", "--target", "sm_90", "--emulate"},
                              signal, [&] { return !std::filesystem::is_empty(folder); });
    EXPECT_EQ(stopped.code, -signal);
    // It is a program of its own that removes them, once this one has ended.
    for (int wait = 0; wait < 1000 && !std::filesystem::is_empty(folder); ++wait) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
}

TEST_F(EmulateOption, LeavesNoTemporaryFiles) {
  std::filesystem::path folder = program_.home() / "temporary";
  std::filesystem::create_directory(folder);
  program_.set("TMPDIR", folder.string());
  EXPECT_EQ(program_.run({"permute", "--indices", "2,1,0", "--target", "sm_90", "--target", "sm_80", "--emulate"}).code,
            0);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

}  // namespace
}  // namespace kiln::test
