#include <gmock/gmock.h>

#include "service_fixture.hpp"

namespace kiln::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ExplainTest : public ServiceTest {
 protected:
  Explanation explain(const ServiceOptions& options, int n, const std::string& target = "sm_80") const {
    return Service(options).explain(sample_, {{"n", n}}, Target::parse(target));
  }
};

TEST_F(ExplainTest, WhatHitsHasNothingInItsWay) {
  ask_anew(1);
  ServiceOptions strict = options();
  strict.strict = true;
  for (const ServiceOptions& given : {options(), strict}) {
    const Explanation explanation = explain(given, 1);
    EXPECT_TRUE(explanation.hit);
    EXPECT_EQ(explanation.layer, "user");
    EXPECT_EQ(explanation.obstacle, "");
  }
}

TEST_F(ExplainTest, WhatCanBeCompiledHasNothingInItsWay) {
  const Explanation explanation = explain(options(), 1);
  EXPECT_FALSE(explanation.hit);
  EXPECT_EQ(explanation.obstacle, "");
  EXPECT_FALSE(explanation.nearest);
  EXPECT_EQ(nvrtc_.compiles(), 0U);
}

TEST_F(ExplainTest, TellsThatStrictModeCompilesNothing) {
  ServiceOptions strict = options();
  strict.strict = true;
  EXPECT_EQ(explain(strict, 1).obstacle, "strict mode: nothing is compiled");
}

TEST_F(ExplainTest, TellsThatThereIsNoCompiler) {
  ServiceOptions without = options();
  without.nvrtc = folder_ / "no/libnvrtc.so";
  EXPECT_THAT(explain(without, 1).obstacle, AllOf(HasSubstr("no NVRTC"), HasSubstr("kiln doctor")));
}

TEST_F(ExplainTest, TellsThatTheCompilerDoesNotKnowTheTarget) {
  const std::string obstacle = explain(options(), 1, "sm_21").obstacle;
  EXPECT_THAT(obstacle, AllOf(HasSubstr("sm_21"), HasSubstr("sm_80")));
}

TEST_F(ExplainTest, AnotherCompilersKernelIsTheNearest) {
  ask_anew(1);
  write_file(nvrtc_.folder() / "version", "12.9.86");
  std::filesystem::last_write_time(nvrtc_.library(), std::filesystem::file_time_type::clock::now());
  const Explanation explanation = explain(options(), 1);
  EXPECT_FALSE(explanation.hit);
  EXPECT_EQ(explanation.field, "compiler");
  EXPECT_EQ(explanation.ours, "nvrtc 12.9.86");
  EXPECT_EQ(explanation.theirs, "nvrtc 13.0.88");
}

}  // namespace
}  // namespace kiln::test
