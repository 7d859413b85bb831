// What looks into and after the cache: query, show, stats, clear, explain, verify, trim, export, import.
#include <gmock/gmock.h>

#include <algorithm>

#include "cli/nvrtc_program.hpp"
#include "support/raw_database.hpp"

namespace kiln::test {
namespace {

using testing::HasSubstr;

class FilledCache : public NvrtcProgram {
 protected:
  void SetUp() override {
    NvrtcProgram::SetUp();
    if (IsSkipped()) {
      return;
    }
    template_ = program_.file("lookup.cu", k_lookup_template);
    std::vector<Json> made = program_
                                 .run({"compile", template_, "-D", "table=2,1,0", "-D", "element=float", "--target",
                                       "sm_80", "--target", "sm_90a", "--json"})
                                 .lines();
    ASSERT_EQ(made.size(), 2);
    key_80_ = made[0].at("key");
    key_90a_ = made[1].at("key");
    ASSERT_EQ(program_.entries(), 2);
  }

  std::string template_;
  std::string key_80_;
  std::string key_90a_;
};

TEST_F(FilledCache, QueryListsFiltersSortsAndLimits) {
  EXPECT_EQ(program_.run({"query", "--json"}).lines().size(), 2);
  EXPECT_EQ(program_.run({"query", "--target", "sm_80", "--json"}).line().at("key"), key_80_);
  EXPECT_EQ(program_.run({"query", "--key", key_90a_.substr(0, 8), "--json"}).line().at("target"), "sm_90a");
  EXPECT_EQ(program_.run({"query", "--template", "lookup.cu", "--json"}).lines().size(), 2);
  EXPECT_EQ(program_.run({"query", "--template", "other.cu", "--json"}).out, "");
  EXPECT_EQ(program_.run({"query", "--limit", "1", "--json"}).lines().size(), 1);
  std::vector<Json> by_key = program_.run({"query", "--sort", "key", "--json"}).lines();
  EXPECT_EQ(by_key[0].at("key"), std::min(key_80_, key_90a_));
  EXPECT_EQ(by_key[0].at("layer"), "user");
  EXPECT_EQ(by_key[0].at("entry_names"), "lookup");
}

TEST_F(FilledCache, QueryPrintsATableForPeople) {
  Finished finished = program_.run({"query"});
  EXPECT_THAT(finished.out, testing::StartsWith("KEY "));
  EXPECT_THAT(finished.out, HasSubstr(key_80_.substr(0, 12)));
  EXPECT_THAT(finished.out, HasSubstr("KiB"));
}

TEST_F(FilledCache, ShowGivesEveryPart) {
  std::string key = key_90a_.substr(0, 10);
  EXPECT_THAT(program_.run({"show", key, "--spec"}).out, HasSubstr("sm_90a"));
  std::string source = program_.run({"show", key, "--source"}).out;
  EXPECT_THAT(source, HasSubstr(k_lookup_template));
  EXPECT_THAT(source, HasSubstr("table = "));
  EXPECT_THAT(program_.run({"show", key, "--ptx"}).out, HasSubstr(".target sm_90a"));
  Finished log = program_.run({"show", key, "--log"});
  EXPECT_EQ(log.code, 0);
  EXPECT_EQ(log.out, "");
  std::string cubin = (program_.home() / "out.cubin").string();
  EXPECT_EQ(program_.run({"show", key, "--cubin", "-o", cubin}).code, 0);
  EXPECT_THAT(read_file(cubin), testing::StartsWith("\x7f"
                                                    "ELF"));
  Json whole = program_.run({"show", key, "--json"}).line();
  EXPECT_EQ(whole.at("key"), key_90a_);
  EXPECT_EQ(whole.at("image_bytes"), read_file(cubin).size());
  EXPECT_EQ(whole.at("entries")[0].at("expression"), "lookup");
  EXPECT_THAT(program_.run({"show", key}).out, HasSubstr("entry     lookup as "));
}

TEST_F(FilledCache, ClearRemovesEverythingAndTheNextRequestCompiles) {
  EXPECT_EQ(program_.run({"clear", "--json"}).line().at("removed"), 2);
  EXPECT_EQ(program_.entries(), 0);
  Json again =
      program_.run({"compile", template_, "-D", "table=2,1,0", "-D", "element=float", "--target", "sm_80", "--json"})
          .line();
  EXPECT_EQ(again.at("outcome"), "compiled");
  EXPECT_EQ(program_.entries(), 1);
}

TEST_F(FilledCache, ExplainSaysWhatHitsAndWhatDiffers) {
  auto explain = [&](const std::string& table, const std::string& target) {
    return program_
        .run({"explain", "compile", template_, "-D", "table=" + table, "-D", "element=float", "--target", target,
              "--json"})
        .line();
  };
  Json hit = explain("2,1,0", "sm_80");
  EXPECT_EQ(hit.at("outcome"), "disk");
  EXPECT_EQ(hit.at("layer"), "user");
  EXPECT_EQ(hit.at("key"), key_80_);
  Json other_value = explain("2,0,1", "sm_80");
  EXPECT_EQ(other_value.at("outcome"), "miss");
  EXPECT_EQ(other_value.at("field"), "value table");
  EXPECT_NE(other_value.at("ours"), other_value.at("theirs"));
  EXPECT_EQ(explain("2,1,0", "sm_100").at("field"), "target");
  EXPECT_EQ(program_.entries(), 2) << "asking compiles nothing";
  Json permute = program_.run({"explain", "permute", "--indices", "1,0", "--target", "sm_90", "--json"}).line();
  EXPECT_EQ(permute.at("outcome"), "miss");
  EXPECT_EQ(permute.at("nearest"), nullptr);
}

TEST_F(FilledCache, ExplainSaysWhichStrategyWasChosenAndWhatOthersWouldReach) {
  const std::vector<std::string> small{"explain",  "permute", "--indices", "2,1,3,0",
                                       "--target", "sm_90",   "--rows",    "10"};
  std::vector<std::string> as_json = small;
  as_json.emplace_back("--json");
  Json line = program_.run(as_json).line();
  EXPECT_EQ(line.at("strategy"), "direct");
  EXPECT_THAT(line.at("choice").get<std::string>(), HasSubstr("the latency of staging"));
  ASSERT_EQ(line.at("candidates").size(), 4);
  const Json& first = line.at("candidates").at(0);
  EXPECT_EQ(first.at("strategy"), "direct");
  EXPECT_NEAR(first.at("speed").get<double>(), 0.88, 0.1) << "ten rows of 36 take 1.17 of a copy's time";
  EXPECT_EQ(first.at("limit"), "the latency of a launch");
  EXPECT_EQ(first.at("problem"), nullptr);
  const Json& last = line.at("candidates").at(3);
  EXPECT_EQ(last.at("strategy"), "tiled");
  EXPECT_EQ(last.at("speed"), nullptr);
  EXPECT_EQ(last.at("limit"), nullptr);
  EXPECT_THAT(last.at("problem").get<std::string>(), HasSubstr("does not swap axes"));
  const std::string text = program_.run(small).out;
  EXPECT_THAT(text, HasSubstr("direct: launches of about 10 rows"));
  EXPECT_THAT(text, HasSubstr("expected: direct 0."));
  EXPECT_THAT(text, HasSubstr(" of a copy's speed (the latency of a launch), staged 0."));
  EXPECT_THAT(text, HasSubstr("not tiled: the map does not swap axes"));
}

TEST_F(FilledCache, ExplainTakesAStrategyAsPermuteDoes) {
  const std::vector<std::string> asked{"explain", "permute", "--indices",  "2,1,3,0", "--target",
                                       "sm_90",   "--json",  "--strategy", "direct"};
  Json line = program_.run(asked).line();
  EXPECT_EQ(line.at("strategy"), "direct");
  EXPECT_EQ(line.at("choice"), "direct; asked for");
  EXPECT_EQ(line.at("candidates").at(0).at("strategy"), "staged");
}

TEST_F(FilledCache, ExplainSaysThatSpeedsOfPitchedRowsAreNotReckoned) {
  std::vector<std::string> pitched{"explain", "permute", "--indices", "2,1,3,0",         "--target",
                                   "sm_90",   "--rows",  "1",         "--row-stride-in", "5"};
  const std::string text = program_.run(pitched).out;
  EXPECT_THAT(text, HasSubstr("elements: launches of about 1 row move 4 units"));
  EXPECT_THAT(text, HasSubstr("expected: not reckoned for the strategies rows and elements"));
  pitched.emplace_back("--json");
  EXPECT_EQ(program_.run(pitched).line().at("candidates"), Json::array());
}

TEST_F(FilledCache, StatsCountWhatEveryProcessDid) {
  auto counters = [this] {
    Json stats = program_.run({"stats", "--json"}).line();
    stats.erase("layers");  // tells what opening them took, never twice the same
    return stats;
  };
  Json before = counters();
  EXPECT_EQ(before.at("hits"), 0);
  EXPECT_EQ(before.at("misses"), 2);
  EXPECT_EQ(before.at("compiles"), 2);
  EXPECT_EQ(before.at("puts"), 2);
  EXPECT_EQ(before.at("tunings"), 0);
  auto compile = [this](const char* element) {
    return program_.run(
        {"compile", template_, "-D", "table=2,1,0", "-D", std::string("element=") + element, "--target", "sm_80"});
  };
  EXPECT_EQ(compile("float").code, 0);
  EXPECT_EQ(compile("float").code, 0);
  EXPECT_EQ(compile("no_such_type").code, 1);
  Json after = counters();
  EXPECT_EQ(after.at("hits"), 2);
  EXPECT_EQ(after.at("misses"), 3);
  EXPECT_EQ(after.at("compiles"), 2);
  EXPECT_EQ(after.at("compile_failures"), 1);
  for (const char* none : {"puts_lost", "corrupt_dropped", "evicted", "degraded"}) {
    EXPECT_EQ(after.at(none), 0) << none;
  }
  EXPECT_EQ(after.at("warning"), "");
  EXPECT_EQ(counters(), after) << "looking counts nothing";
  EXPECT_THAT(program_.run({"stats"}).out, HasSubstr("hits 2, misses 3, compiles 2, failed compiles 1"));

  program_.set("KILN_CACHE_MODE", "ro");
  EXPECT_EQ(compile("float").code, 0);
  EXPECT_EQ(counters().at("hits"), 2) << "a read-only cache is not written";
}

TEST_F(FilledCache, StatsWarnWhenTheCapIsTooSmall) {
  program_.set("KILN_CACHE_MAX_SIZE", "40K");
  for (int i = 0; i < 10; ++i) {
    program_.run({"compile", template_, "-D", "table=2,1,0", "-D", "element=float", "-D", "factor=" + std::to_string(i),
                  "--target", "sm_80"});
  }
  Json stats = program_.run({"stats", "--json"}).line();
  EXPECT_GT(stats.at("evicted"), 0);
  EXPECT_THAT(stats.at("warning"), HasSubstr("KILN_CACHE_MAX_SIZE"));
  EXPECT_THAT(program_.run({"stats"}).out, HasSubstr("warning: more entries were evicted"));
}

TEST_F(FilledCache, VerifyFindsItSound) {
  Json result = program_.run({"verify", "--json"}).line();
  EXPECT_EQ(result.at("checked"), 2);
  EXPECT_EQ(result.at("damage").size(), 0);
}

TEST_F(FilledCache, DamageThatIsLeftIsOneLineOnStandardErrorBesideTheList) {
  const std::string pack = (program_.home() / "damaged.kilnpack").string();
  ASSERT_EQ(program_.run({"export", pack}).code, 0);
  for (const std::filesystem::path& database : {program_.home() / ".cache/kiln/kiln.db", std::filesystem::path(pack)}) {
    RawDatabase(database).execute("UPDATE artifacts SET registers = 99 WHERE id = (SELECT min(id) FROM artifacts)");
  }
  const std::string exported = (program_.home() / "exported.kilnpack").string();
  const std::vector<std::vector<std::string>> commands{
      {"verify"}, {"verify", "--json"}, {"export", exported}, {"import", pack}, {"import", pack, "--json"}};
  for (const std::vector<std::string>& command : commands) {
    Finished finished = program_.run(command);
    EXPECT_EQ(finished.code, 1) << command.front();
    EXPECT_THAT(finished.err, testing::StartsWith("kiln: 1 damaged part found: ")) << command.front();
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  }
  Finished repaired = program_.run({"verify", "--repair"});
  EXPECT_EQ(repaired.code, 0);
  EXPECT_EQ(repaired.err, "");
}

TEST_F(FilledCache, TrimSaysBeforeItRemoves) {
  Json would = program_.run({"trim", "--unused-for", "0s", "--dry-run", "--json"}).line();
  EXPECT_EQ(would.at("removed").size(), 2);
  EXPECT_EQ(program_.entries(), 2);
  EXPECT_EQ(program_.run({"trim", "--unused-for", "1d", "--json"}).line().at("removed").size(), 0);
  EXPECT_EQ(program_.run({"trim", "--unused-for", "0s", "--json"}).line().at("removed").size(), 2);
  EXPECT_EQ(program_.entries(), 0);
}

TEST_F(FilledCache, ExportsMoveToAnotherMachineAndAreTheSameBytes) {
  std::string first = (program_.home() / "first.kilnpack").string();
  std::string second = (program_.home() / "second.kilnpack").string();
  EXPECT_EQ(program_.run({"export", first, "--json"}).line().at("entries"), 2);
  EXPECT_EQ(program_.run({"export", second}).out, "exported 2 kernels, left out 0 damaged\n");
  EXPECT_EQ(read_file(first), read_file(second));

  Program other;
  EXPECT_EQ(other.run({"import", first, "--json"}).line().at("entries"), 2);
  EXPECT_EQ(other.entries(), 2);
  EXPECT_EQ(other.run({"import", first, "--json"}).line().at("present"), 2);
  EXPECT_EQ(other.run({"import", first}).out, "imported 0 kernels, 2 present, left out 0 damaged\n");
  Finished cache = other.run({"import", (program_.home() / ".cache/kiln/kiln.db").string()});
  EXPECT_EQ(cache.code, 1);
  EXPECT_THAT(cache.err, HasSubstr("it is a user cache, of which `kiln export --cache DIR FILE` makes a pack"));
  Finished wrong = other.run({"import", template_});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("lookup.cu"));
}

}  // namespace
}  // namespace kiln::test
