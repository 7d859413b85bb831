// What is written takes the place of nothing that is read or kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/program.hpp"

namespace kiln::test {
namespace {

using testing::HasSubstr;

constexpr int k_usage = 2;

TEST(Written, NothingThatIsReadIsWrittenOver) {
  Program program;
  const std::string file = program.file(
      "lookup.cu", "#include \"more.h\"\n#if __has_include(\"asked.h\")\n#endif\n" + std::string(k_lookup_template));
  const std::string header = program.file("more.h", "#pragma once\n");
  const std::string asked = program.file("asked.h", "#pragma once\n");
  const std::string list = program.file("list", "1, 2");
  const std::vector<std::string> inputs{file, header, asked, list};
  for (const std::string& input : inputs) {
    const std::string before = read_file(input);
    Finished finished =
        program.run({"compile", file, "--target", "sm_90", "-D", "element=float", "-D", "table=@" + list, "-o", input});
    EXPECT_EQ(finished.code, k_usage) << input << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("name another file"));
    EXPECT_EQ(read_file(input), before);
  }
}

TEST(Written, NothingIsWrittenWhereAHeaderIsLookedFor) {
  Program program;
  const std::string file = program.file(
      "lookup.cu", "#include \"more.h\"\n#if __has_include(\"asked.h\")\n#endif\n" + std::string(k_lookup_template));
  program.file("inc/more.h", "#pragma once\n");
  const std::string folder = (program.home() / "inc").string();
  for (const char* place : {"more.h", "asked.h", "inc/asked.h"}) {  // there the next compile would find it
    const std::string output = (program.home() / place).string();
    const Finished finished = program.run({"compile", file, "--target", "sm_90", "-D", "element=float", "-D", "table=1",
                                           "-I", folder, "--emit", "source", "-o", output});
    EXPECT_EQ(finished.code, k_usage) << place << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("where a header of the template is looked for: name another file"));
    EXPECT_FALSE(std::filesystem::exists(output)) << place;
  }
  const std::string plan = program.file("plan.json", R"({"kiln_plan": 1, "templates": {"lookup": {"file": "lookup.cu",
      "include_dirs": ["inc"]}}, "kernels": [{"template": "lookup", "values": {"element": "float", "table": [1]}}]})");
  const std::string pack = (program.home() / "inc/asked.h").string();
  const Finished finished = program.run({"precompile", plan, "--target", "sm_90", "-o", pack});
  EXPECT_EQ(finished.code, k_usage) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("where a header of the template is looked for: name another file"));
  EXPECT_FALSE(std::filesystem::exists(pack));
}

TEST(Written, NothingOfKilnsOwnIsWrittenOver) {
  Program program;
  const std::string cache = (program.home() / "cache").string();
  const std::string counters = program.file("cache/kiln.stats", "hits 5\n");
  const std::string plan = (program.home() / "plan.json").string();
  const std::string pack = (program.home() / "a.kilnpack").string();
  program.set("KILN_CACHE_DIR", cache);
  program.set("KILN_RECORD", plan);
  program.set("KILN_PACKS", pack);
  const std::string source = program.file("lookup.cu", k_lookup_template);
  const std::string recorded = program.file("recorded.json", R"({"kiln_plan": 1, "kernels": [{"permutation": [0]}]})");
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& place) {
    const Finished finished = program.run(arguments);
    EXPECT_EQ(finished.code, k_usage) << arguments[0] << " " << place;
    EXPECT_THAT(finished.err, HasSubstr("'" + place + "' is ")) << arguments[0];
    EXPECT_THAT(finished.err, HasSubstr("name another file"));
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  };
  for (const std::string& place : {counters, cache + "/kiln.db", cache + "/kiln.db-wal", plan, pack}) {
    refused({"compile", source, "-D", "element=float", "-D", "table=1", "--target", "sm_90", "-o", place}, place);
    refused({"show", "0", "--ptx", "-o", place}, place);
    if (place != pack) {  // which these write
      refused({"export", place}, place);
      refused({"precompile", recorded, "--target", "sm_90", "-o", place}, place);
    }
    EXPECT_EQ(std::filesystem::exists(place), place == counters);
  }
  EXPECT_EQ(read_file(counters), "hits 5\n");
}

}  // namespace
}  // namespace kiln::test
