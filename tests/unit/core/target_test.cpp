#include "kiln/target.hpp"

#include <gtest/gtest.h>

#include "kiln/error.hpp"

namespace kiln {
namespace {

TEST(Target, ParsesEveryForm) {
  EXPECT_TRUE(Target::parse("native").is_native());
  EXPECT_EQ(Target::parse("sm_90"), Target::cubin(90));
  EXPECT_EQ(Target::parse("sm_90a"), Target::cubin(90, 'a'));
  EXPECT_EQ(Target::parse("sm_100f"), Target::cubin(100, 'f'));
  EXPECT_EQ(Target::parse("compute_121"), Target::ptx(121));
}

TEST(Target, TextIsWhatParseTakes) {
  for (const char* text : {"native", "sm_75", "sm_90a", "sm_103f", "compute_90", "compute_100a"}) {
    EXPECT_EQ(Target::parse(text).text(), text);
  }
}

TEST(Target, SuffixesAreDistinct) {
  EXPECT_NE(Target::parse("sm_90"), Target::parse("sm_90a"));
  EXPECT_NE(Target::parse("sm_100a"), Target::parse("sm_100f"));
  EXPECT_NE(Target::parse("sm_90"), Target::parse("compute_90"));
}

TEST(Target, RefusesWhatIsNotWellFormedAndNamesIt) {
  for (const char* text : {"", "sm_", "sm_9", "sm_090", "sm_-90", "sm_90b", "sm_90af", "sm90", "SM_90", "sm_90 ",
                           "compute_", "sm_99999999999999", "sm_ 90", "sm_+90"}) {
    try {
      Target::parse(text);
      FAIL() << "accepted '" << text << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported_target);
      EXPECT_NE(std::string(error.what()).find("'" + std::string(text) + "'"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace kiln
