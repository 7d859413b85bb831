#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "kiln/error.hpp"
#include "kiln/index_map.hpp"
#include "support/project_dir.hpp"

namespace kiln {
namespace {

std::vector<std::uint32_t> parsed(std::string_view text) {
  IndexMap map = IndexMap::parse(text, "map.json");
  return {map.sources().begin(), map.sources().end()};
}

std::string refusal(std::string_view text, std::uint64_t source_size = 0) {
  try {
    IndexMap::parse(text, "map.json", source_size);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "nothing was thrown";
}

const std::vector<std::uint32_t> k_list{5, 0, 12};

TEST(IndexMapText, ReadsAJsonList) {
  EXPECT_EQ(parsed("[5,0,12]"), k_list);
  EXPECT_EQ(parsed("  [ 5 ,\n\t0,\r\n 12 ]\n"), k_list);
}

TEST(IndexMapText, ReadsPlainNumbers) {
  EXPECT_EQ(parsed("5 0 12"), k_list);
  EXPECT_EQ(parsed("5,0,12"), k_list);
  EXPECT_EQ(parsed("5\n0\n12\n"), k_list);
  EXPECT_EQ(parsed("5,\r\n0,\r\n12,\r\n"), k_list);
  EXPECT_EQ(parsed("7"), (std::vector<std::uint32_t>{7}));
}

TEST(IndexMapText, TheLargestSourceDecidesTheSizeUnlessItIsGiven) {
  EXPECT_EQ(IndexMap::parse("5 0 12", "text").source_size(), 13U);
  EXPECT_EQ(IndexMap::parse("5 0 12", "text", 20).source_size(), 20U);
}

TEST(IndexMapText, RefusesAnEmptyMap) {
  for (std::string_view text : {"", "  \n", "[]", "[ ]\n"}) {
    EXPECT_EQ(refusal(text), "map.json: the index map is empty: it needs at least one source position") << text;
  }
}

TEST(IndexMapText, RefusesAWordNamingItsLine) {
  EXPECT_EQ(refusal("1\n2\nthree\n4"), "map.json:3: 'three' is not an index: expected a whole number from 0");
  EXPECT_EQ(refusal("[1, 2.5]"), "map.json:1: '2.5' is not an index: expected a whole number from 0");
  EXPECT_EQ(refusal("[1, 2e3]"), "map.json:1: '2e3' is not an index: expected a whole number from 0");
  EXPECT_EQ(refusal("[[1], [2]]"), "map.json:1: '[1' is not an index: expected a whole number from 0");
  EXPECT_EQ(refusal("+1"), "map.json:1: '+1' is not an index: expected a whole number from 0");
  EXPECT_EQ(refusal("-"), "map.json:1: '-' is not an index: expected a whole number from 0");
}

TEST(IndexMapText, RefusesAListWithHoles) {
  for (std::string_view text : {"2,,1", "2, ,1", "2,\n,1", ",2,1", " ,2,1", ",,", ","}) {
    EXPECT_THAT(refusal(text), testing::HasSubstr("',' is not an index: expected a whole number from 0")) << text;
  }
  EXPECT_EQ(refusal("2,1,,,,"), "map.json:1: ',' is not an index: expected a whole number from 0");
  EXPECT_EQ(refusal("0,\n1,\n,\n"), "map.json:3: ',' is not an index: expected a whole number from 0");
  EXPECT_EQ(refusal("0,\n7,2", 3), "map.json:2: '7' is out of range: sources must be below 3");
}

TEST(IndexMapText, TakesOneCommaWithBlanksAroundItForOneSeparator) {
  for (std::string_view text :
       {"2,1,0", "2 1 0\n", " 2 , 1\t,\n0\r\n", "2\n1\n\n0\n\n", "2 1,0", "2,1,0,", "2,\n1,\n0,\n"}) {
    EXPECT_EQ(IndexMap::parse(text, "text"), IndexMap::parse("[2,1,0]", "text")) << text;
  }
}

TEST(IndexMapText, ShortensALongWord) {
  EXPECT_EQ(refusal(std::string(500, 'x')), "map.json:1: '" + std::string(26, 'x') + "…" + std::string(14, 'x') +
                                                "' (500 bytes) is not an index: expected a whole number from 0");
}

TEST(IndexMapText, RefusesANegativeSource) {
  EXPECT_EQ(refusal("0\n-12\n"), "map.json:2: '-12' is negative: sources count from 0");
}

TEST(IndexMapText, RefusesASourceTooLarge) {
  EXPECT_EQ(refusal("4294967295"), "map.json:1: '4294967295' is too large: sources go up to 4294967294");
  EXPECT_EQ(refusal("99999999999999999999"),
            "map.json:1: '99999999999999999999' is too large: sources go up to 4294967294");
}

TEST(IndexMapText, RefusesASourceOutOfRangeNamingItsLine) {
  EXPECT_EQ(refusal("[0, 1,\n 4,\n 3]", 4), "map.json:2: '4' is out of range: sources must be below 4");
  EXPECT_EQ(refusal("0 1\n4 3", 4), "map.json:2: '4' is out of range: sources must be below 4");
}

TEST(IndexMapText, RefusesABrokenList) {
  EXPECT_EQ(refusal("[1, 2"), "map.json:1: the end of the text does not go on with the list: expected ',' or ']'");
  EXPECT_EQ(refusal("[1 2]"), "map.json:1: '2' does not go on with the list: expected ',' or ']'");
  EXPECT_EQ(refusal("[1,]"), "map.json:1: ']' is not an index: expected a whole number from 0");
  EXPECT_EQ(refusal("[1]\n[2]"), "map.json:2: '[2' stands after the end of the list");
  EXPECT_EQ(refusal("1 2]"), "map.json:1: ']' is not an index: expected a whole number from 0");
}

class IndexMapFile : public testing::Test {
 protected:
  IndexMapFile() { std::filesystem::create_directories(folder_); }
  ~IndexMapFile() override { std::filesystem::remove_all(folder_); }
  std::string refusal(const std::filesystem::path& file, ErrorCode code) {
    try {
      IndexMap::read(file);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      return error.what();
    }
    return "nothing was thrown";
  }
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("kiln_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(IndexMapFile, IsRead) {
  std::ofstream(folder_ / "map.txt") << "2 1 0\n";
  EXPECT_EQ(IndexMap::read(folder_ / "map.txt"), IndexMap::parse("[2,1,0]", "text"));
}

TEST_F(IndexMapFile, MissingIsNamed) {
  auto file = folder_ / "missing.json";
  EXPECT_EQ(refusal(file, ErrorCode::file_unreadable),
            "cannot read index map '" + file.string() + "': there is no such file or folder; check the name");
}

TEST_F(IndexMapFile, AFolderIsRefused) {
  EXPECT_THAT(refusal(folder_, ErrorCode::file_unreadable), testing::HasSubstr("it is a folder; name a regular file"));
}

TEST_F(IndexMapFile, ErrorsNameFileAndLine) {
  auto file = folder_ / "map.json";
  std::ofstream(file) << "[0,\n1,\n2x]";
  EXPECT_EQ(refusal(file, ErrorCode::invalid_argument),
            file.string() + ":3: '2x' is not an index: expected a whole number from 0");
}

TEST(IndexMapExamples, AreWhatTheirReadmeSays) {
  auto example = [](const char* name) { return IndexMap::read(test::project_dir() / "examples" / "data" / name); };
  IndexMap features = example("kernelbench_27.json");
  EXPECT_EQ(features.size(), 36U);
  EXPECT_TRUE(features.is_permutation());
  EXPECT_EQ(features[35], 2U);

  IndexMap reversal = example("bit_reversal_1024.json");
  ASSERT_EQ(reversal.size(), 1024U);
  EXPECT_EQ(reversal[1], 512U);
  EXPECT_EQ(reversal[6], 384U);  // 0000000110 -> 0110000000
  EXPECT_EQ(reversal.after(reversal), Permutation::identity(1024));

  IndexMap channels_last = example("nchw_to_nhwc.json");
  ASSERT_EQ(channels_last.size(), 3U * 32 * 32);
  EXPECT_TRUE(channels_last.is_permutation());
  EXPECT_EQ(channels_last[(5 * 32 + 7) * 3 + 2], 2U * 1024 + 5 * 32 + 7);

  IndexMap colours = example("rgb_to_bgr.json");
  EXPECT_EQ(colours, IndexMap::parse("2 1 0", "text"));

  IndexMap rotary = example("rotary_interleave_128.json");
  ASSERT_EQ(rotary.size(), 128U);
  EXPECT_TRUE(rotary.is_permutation());
  EXPECT_EQ(rotary[2], 1U);
  EXPECT_EQ(rotary[127], 127U);
  EXPECT_EQ(rotary[1], 64U);
}

}  // namespace
}  // namespace kiln
