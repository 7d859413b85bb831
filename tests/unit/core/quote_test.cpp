#include "kiln/quote.hpp"

#include <gtest/gtest.h>

#include "kiln/error.hpp"

namespace kiln {
namespace {

using std::string_literals::operator""s;

TEST(Quote, ShowsPrintableTextAsItIs) {
  EXPECT_EQ(quote(""), "''");
  EXPECT_EQ(quote("scale.cu"), "'scale.cu'");
  EXPECT_EQ(quote("größe μ 🙂 日本"), "'größe μ 🙂 日本'");
}

TEST(Quote, EscapesWhatATerminalActsUpon) {
  EXPECT_EQ(quote("a\nb\tc\r"), R"('a\x0ab\x09c\x0d')");
  EXPECT_EQ(quote("\x1b[31m\x7f"), R"('\x1b[31m\x7f')");
  EXPECT_EQ(quote("a\0b"s), R"('a\x00b')");
  EXPECT_EQ(quote("\u009b"), R"('\xc2\x9b')");      // CSI as one character
  EXPECT_EQ(quote("\u202e"), R"('\xe2\x80\xae')");  // turns the rest of the line around
  EXPECT_EQ(quote("\u200b"), R"('\xe2\x80\x8b')");  // cannot be seen
}

TEST(Quote, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(quote("\xff"), R"('\xff')");
  EXPECT_EQ(quote("a\x80z"), R"('a\x80z')");                      // continues nothing
  EXPECT_EQ(quote("\xc3"), R"('\xc3')");                          // cut short
  EXPECT_EQ(quote("\xc3z"), R"('\xc3z')");                        // not continued
  EXPECT_EQ(quote("\xc0\xaf"), R"('\xc0\xaf')");                  // '/' in two bytes
  EXPECT_EQ(quote("\xe0\x80\xaf"), R"('\xe0\x80\xaf')");          // and in three
  EXPECT_EQ(quote("\xed\xa0\x80"), R"('\xed\xa0\x80')");          // half of a surrogate pair
  EXPECT_EQ(quote("\xf4\x90\x80\x80"), R"('\xf4\x90\x80\x80')");  // beyond U+10FFFF
}

TEST(Quote, TellsUtf8) {
  for (const char* text : {"", "a\n\x1b", "\u00e9\u202e", "\U0010ffff"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  for (const char* text : {"\xff", "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    EXPECT_FALSE(is_utf8(text)) << text;
  }
}

TEST(Quote, ShortensAndNamesTheLength) {
  EXPECT_EQ(quote(std::string(80, 'a')), "'" + std::string(80, 'a') + "'");
  EXPECT_EQ(quote(std::string(60, 'a') + std::string(40, 'z')),
            "'" + std::string(53, 'a') + "…" + std::string(27, 'z') + "' (100 bytes)");
  EXPECT_EQ(one_line("abcdefghijkl", 6), "abcd…kl (12 bytes)");
}

TEST(Quote, CutsNoCharacter) { EXPECT_EQ(one_line("aaa\u00e9\u00e9\u00e9\u00e9\u00e9z", 6), "aaa…z (14 bytes)"); }

TEST(Quote, PrintableKeepsLinesAndTabs) {
  EXPECT_EQ(printable("a.cu(1): error\n\tx \x1b[0m\xff\r\n"), "a.cu(1): error\n\tx \\x1b[0m\\xff\\x0d\n");
}

TEST(Quote, NoErrorHoldsWhatCannotBeShown) {
  EXPECT_STREQ(Error(ErrorCode::invalid_argument, "a\0b\x1b]0;x\a\xff\nc"s).what(), "a\\x00b\\x1b]0;x\\x07\\xff\nc");
  CompileError error("a.cu", "log \x1b[2J", "source", {});
  EXPECT_EQ(std::string(error.what()).find('\x1b'), std::string::npos);
  EXPECT_EQ(error.log(), "log \x1b[2J");  // as the compiler gave it
}

}  // namespace
}  // namespace kiln
