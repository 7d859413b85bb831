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

TEST(Target, RefusesNumbersThatNoArchitectureHas) {
  for (int capability : {-3, 0, 9, 1000}) {
    EXPECT_THROW(Target::cubin(capability), Error) << capability;
    EXPECT_THROW(Target::ptx(capability), Error) << capability;
  }
  EXPECT_THROW(Target::cubin(90, 'b'), Error);
  EXPECT_THROW(Target::cubin(90, ' '), Error);
  EXPECT_EQ(Target::cubin(10).text(), "sm_10");
  EXPECT_EQ(Target::ptx(999, 'f').text(), "compute_999f");
}

TEST(Target, QuotesWhatCannotBeShown) {
  try {
    Target::parse(std::string_view("sm_90\0\n\x1b", 8));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(R"('sm_90\x00\x0a\x1b')"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace kiln
