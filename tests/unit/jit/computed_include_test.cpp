#include "jit/computed_include.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace kiln::jit {
namespace {

/// Of `#include TEXT` behind these lines.
bool found(const std::string& lines, const std::string& text) {
  static std::deque<std::string> texts;  // what the scans view
  texts.push_back(lines);
  Definitions definitions;
  for (const MacroDefinition& macro : scan_includes(texts.back()).definitions) {
    definitions.emplace(macro.name, macro);
  }
  return may_be_absolute(text, definitions);
}

TEST(ComputedInclude, LiteralNamesAreHarmlessDirectlyAndThroughOthers) {
  EXPECT_FALSE(found("#define H \"x/y.h\"", "H"));
  EXPECT_FALSE(found("#define H <x/y.h> // of old", "H"));
  EXPECT_FALSE(found("#define H \"/abs.h\"", "H")) << "rewritten";
  EXPECT_FALSE(found("#define A H\n#define H </abs.h>", "A // x"));
  EXPECT_FALSE(found("", "NEVER_DEFINED"));
  EXPECT_FALSE(found("#define A B\n#define B A", "A"));
}

TEST(ComputedInclude, FunctionsOfRelativeNamesAreHarmless) {
  EXPECT_FALSE(found("#define S(x) #x\n#define X(x) S(x)", "X(dir/x.h)"));
  EXPECT_FALSE(found("#define S(x) #x", "S(./x.h)"));
  EXPECT_FALSE(found("#define S(x) #x", "S(../x.h) // and/or"));
  EXPECT_FALSE(found("#define ROOT lib/detail\n#define H <ROOT/copy.h>", "H"));
  EXPECT_FALSE(found("#define IN(dir, x) <dir/x.h>", "IN(a, b)"));
  EXPECT_FALSE(found("#define ITERATE() \"iterate/x.h\"", "ITERATE()"));
}

TEST(ComputedInclude, WhatCouldBeginWithASlashIsFound) {
  EXPECT_TRUE(found("#define S(x) #x", "S(/abs.h)"));
  EXPECT_TRUE(found("#define S(x) #x\n#define H S(/abs.h)", "H"));
  EXPECT_TRUE(found("#define D /abs\n#define H <D/x.h>", "H"));
  EXPECT_TRUE(found("#define D /ab\\\ns\n#define H \\\n <D/x.h>", "H"));
  EXPECT_TRUE(found("#define D /**/ /abs\n#define H <D/x.h>", "H"));
  EXPECT_TRUE(found("#define D\n#define H <D/x.h>", "H")) << "D vanishes";
  EXPECT_TRUE(found("#define D a\n#define D /abs\n#define H <D/x.h>", "H")) << "either definition";
  EXPECT_TRUE(found("#define ID(x) x\n#define H \"/abs.h\"", "ID(H)")) << "not rewritten for functions";
  EXPECT_TRUE(found("#define IN(dir) <dir/x.h>", "IN()"));
  EXPECT_TRUE(found("#define IN(...) <__VA_ARGS__/x.h>", "IN( )"));
  EXPECT_TRUE(found("#define P(a, b) a##b", "P(<,/abs.h>)"));
  EXPECT_TRUE(found("#define L <\n#define R >\n#define D /abs.h", "L D R"));
  EXPECT_TRUE(found("", "__FILE__")) << "#line can make it anything";
  EXPECT_TRUE(found("#define H __FILE__", "H"));
}

TEST(Snippet, MayIncludeRelativeNames) {
  EXPECT_EQ(problem_of_snippet("#include \"ops.h\"\n#if __has_include(<x.h>)\n#endif\nreturn a / b;"), "");
  EXPECT_EQ(problem_of_snippet("#define HALF(x) x / 2\n"), "");
}

TEST(Snippet, MustNotReachTheDisk) {
  EXPECT_EQ(problem_of_snippet("\n#include \"/abs.h\""), "names the header '/abs.h' by an absolute path in its line 2");
  EXPECT_NE(problem_of_snippet("#if __has_include(</abs.h>)\n#endif"), "");
  EXPECT_NE(problem_of_snippet("#include H"), "");
  EXPECT_NE(problem_of_snippet("#include S(/abs.h)"), "");
  EXPECT_NE(problem_of_snippet("%:include </abs.h>"), "");
  EXPECT_NE(problem_of_snippet("#inc\\\nlude </abs.h>"), "");
  EXPECT_EQ(problem_of_snippet("#define D /abs"), "defines 'D' as the begin of an absolute path");
}

}  // namespace
}  // namespace kiln::jit
