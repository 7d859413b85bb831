#include "jit/include_scanner.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kiln::jit {
namespace {

using Kind = Mention::Kind;

/// "line kind name" of every mention.
std::vector<std::string> mentions(std::string_view text) {
  static constexpr const char* k_kinds[] = {"include", "next", "has", "argument", "macro", "test", "unclear"};
  std::vector<std::string> found;
  for (const Mention& mention : scan_includes(text).mentions) {
    bool is_name = mention.kind >= Kind::macro;
    char open = is_name ? ' ' : (mention.header.is_quoted ? '"' : '<');
    found.push_back(std::to_string(mention.line) + " " + k_kinds[static_cast<int>(mention.kind)] + " " + open +
                    std::string(mention.header.text));
  }
  return found;
}

using Lines = std::vector<std::string>;

TEST(IncludeScanner, FindsQuotedAndAngledIncludes) {
  EXPECT_EQ(mentions("#include \"a.h\"\n  #  include <b/c.h> // x\n#include_next<d.h>\nint x;\n"),
            (Lines{"1 include \"a.h", "2 include <b/c.h", "3 next <d.h"}));
}

TEST(IncludeScanner, KnowsTheOtherSpellingOfTheHash) {
  EXPECT_EQ(mentions("%:include \"a.h\"\n  %: include <b.h>\nint m = 5 %:include;\n"),
            (Lines{"1 include \"a.h", "2 include <b.h"}));
}

TEST(IncludeScanner, SaysWhatItDoesNotUnderstand) {
  EXPECT_EQ(mentions("#inc\\\nlude \"a.h\"\n"), Lines{"1 unclear  "});
  EXPECT_EQ(mentions("#include \"a\\\n.h\"\n"), Lines{"1 unclear  "});
  EXPECT_EQ(mentions("#include NA\\\r\nME\n"), Lines{"1 unclear  "});
  EXPECT_EQ(mentions("#define NA\\\nME \"a.h\"\n"), Lines{"1 unclear  "});
  EXPECT_EQ(mentions("#include <a.h\n"), Lines{"1 unclear  "});
  EXPECT_EQ(mentions("#if __has_include( NAME )\n#endif"), Lines{"1 test  NAME"});
}

TEST(IncludeScanner, GivesEveryDefinition) {
  Scan scan = scan_includes("#define A\n#define B 1 /* x\n */ + 2 // y\n#define C(x, y) #x \\\n y\n#define D \"d.h\"");
  ASSERT_EQ(scan.definitions.size(), 4u);
  EXPECT_EQ(scan.definitions[0].name, "A");
  EXPECT_EQ(scan.definitions[0].body, "");
  EXPECT_EQ(scan.definitions[1].body, " 1 /* x\n */ + 2 // y");
  EXPECT_EQ(scan.definitions[2].name, "C");
  EXPECT_EQ(scan.definitions[2].body, " #x \\\n y");
  EXPECT_EQ(scan.definitions[2].parameters, "(x, y)");
  EXPECT_EQ(scan.definitions[3].body, " \"d.h\"");
}

TEST(IncludeScanner, FindsThemInInactiveBranches) {
  EXPECT_EQ(mentions("#if 0\n#include \"a.h\"\n#endif\n"), Lines{"2 include \"a.h"});
}

TEST(IncludeScanner, IgnoresCommentsStringsAndRawStrings) {
  EXPECT_EQ(mentions("// #include \"a.h\"\n"
                     "/* \n#include \"b.h\"\n*/\n"
                     "const char* s = \"\\\"\\\n#include <c.h>\";\n"
                     "const char* r = R\"x(\n#include \"d.h\"\n)\" )x\";\n"
                     "char q = '\"';\n"
                     "int n = 1'000; \n"
                     "#include \"e.h\"\n"),
            Lines{"12 include \"e.h"});
}

TEST(IncludeScanner, FollowsLineContinuationsAndInnerComments) {
  EXPECT_EQ(mentions("#\\\ninclude \\\n \"a.h\"\n/* x */ #include /* y\n */ <b.h>\n// c \\\n#include \"no.h\"\n"),
            (Lines{"3 include \"a.h", "5 include <b.h"}));
}

TEST(IncludeScanner, ReportsTheRangeToWriteAnew) {
  std::string_view text = "# include  \"a.h\" // x\n#if defined(X) && __has_include( <b.h> )\n#endif\n";
  Scan scan = scan_includes(text);
  ASSERT_EQ(scan.mentions.size(), 2u);
  EXPECT_EQ(text.substr(scan.mentions[0].begin, scan.mentions[0].end - scan.mentions[0].begin), "include  \"a.h\"");
  EXPECT_EQ(text.substr(scan.mentions[1].begin, scan.mentions[1].end - scan.mentions[1].begin),
            "__has_include( <b.h> )");
}

TEST(IncludeScanner, FindsTestsForHeaders) {
  EXPECT_EQ(
      mentions("#if __has_include(<a.h>) || __has_include(\"b.h\")\n#elif HAS(<c.h>)\n#endif\n"
               "#ifdef __has_include\n#endif\n#define HAS_D __has_include(<d.h>)\n#define T(x) __has_include(x)\n"),
      (Lines{"1 has <a.h", "1 has \"b.h", "2 argument <c.h", "6 has <d.h", "7 test  x"}));
}

TEST(IncludeScanner, FindsMacroIncludesAndWhatTheyMayBe) {
  Scan scan = scan_includes(
      "#define H \"a.h\"\n#define G H // x\n#define N 4\n#define S \"x\" \"y\"\n#include G\n#include F(b/c.h)\n");
  ASSERT_EQ(scan.mentions.size(), 2u);
  EXPECT_EQ(scan.mentions[0].kind, Kind::macro);
  EXPECT_EQ(scan.mentions[0].header.text, "G");
  EXPECT_EQ(scan.mentions[1].header.text, "F");
  EXPECT_EQ(scan.mentions[1].arguments, "b/c.h");
  ASSERT_EQ(scan.macros.size(), 3u);
  EXPECT_EQ(scan.macros[0].name, "H");
  EXPECT_EQ(scan.macros[0].header, (HeaderName{"a.h", true}));
  EXPECT_EQ(scan.macros[1].name, "G");
  EXPECT_EQ(scan.macros[1].alias, "H");
  EXPECT_EQ(scan.macros[2].name, "N");
}

TEST(IncludeScanner, SurvivesTextsThatEndAnywhere) {
  const std::string text =
      "#include \"a.h\"\n#define X(y) R\"d(z)d\" 'c' \"s\\\n\" /* c */ // d\n#if __has_include(<b.h>) && F(\"c\")\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    // A copy of exactly that size, so that a sanitizer sees a read behind it.
    std::vector<char> cut(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
    Scan scan = scan_includes({cut.data(), cut.size()});
    EXPECT_LE(scan.mentions.size(), 3u);
  }
  for (const char* odd : {"#", "#include", "#include \"", "#include <", "#define", "\\", "R\"", "R\"(", "/*", "'",
                          "#if (", "#include X(", "\\\r"}) {
    EXPECT_LE(scan_includes(odd).mentions.size(), 1u) << odd;
  }
}

}  // namespace
}  // namespace kiln::jit
