#include "jit/headers.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "kiln/error.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::jit {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> by_name(const Closure& closure) {
  std::map<std::string, std::string> headers;
  for (const Header& header : closure.headers) {
    EXPECT_TRUE(headers.emplace(header.name, header.text).second) << "twice: " << header.name;
  }
  return headers;
}

using Map = std::map<std::string, std::string>;

class Headers : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((dir_ / path).parent_path());
    test::write_file(dir_ / path, text);
  }
  /// Includes beside the main file come from `main/`, include directories are the `dirs` given.
  Closure find(const std::string& text, std::initializer_list<const char*> dirs = {}) {
    HeaderSearch search;
    search.beside = dir_ / "main";
    for (const char* dir : dirs) {
      search.include_dirs.push_back(dir_ / dir);
    }
    search.options = options_;
    return find_headers("t.cu", text, search);
  }
  test::TempDir dir_;
  std::vector<std::string> options_;
};

Closure in_memory(const std::string& text, Map headers, bool takes_code = false) {
  HeaderSearch search;
  search.memory = std::move(headers);
  search.takes_code = takes_code;
  return find_headers("t.cu", text, search);
}

TEST_F(Headers, NestedQuotedIncludesAreNamedFromTheIncluder) {
  write("main/a/b.h", "#include \"c.h\"\n#include \"../d.h\"\n");
  write("main/a/c.h", "// c\n");
  write("main/d.h", "// d\n");
  Closure closure = find("#include \"a/b.h\"\n");
  EXPECT_EQ(closure.text, "#include \"a/b.h\"\n");
  EXPECT_EQ(by_name(closure),
            (Map{{"a/b.h", "#include \"a/c.h\"\n#include \"d.h\"\n"}, {"a/c.h", "// c\n"}, {"d.h", "// d\n"}}));
}

TEST_F(Headers, QuotedPrefersTheIncludersFolderAngledDoesNot) {
  write("inc/a/b.h", "#include \"c.h\"\n#include <c.h>\n");
  write("inc/a/c.h", "// beside\n");
  write("inc/c.h", "// by path\n");
  EXPECT_EQ(
      by_name(find("#include <a/b.h>\n", {"inc"})),
      (Map{{"a/b.h", "#include \"a/c.h\"\n#include <c.h>\n"}, {"a/c.h", "// beside\n"}, {"c.h", "// by path\n"}}));
}

TEST_F(Headers, OneSpellingForTwoFilesIsTakenApart) {
  write("main/c.h", "// beside\n");
  write("inc/c.h", "// by path\n");
  Closure closure = find("#include \"c.h\"\n#include <c.h>\n", {"inc"});
  EXPECT_EQ(closure.text, "#include \"c.h\"\n#include <2/c.h>\n");
  EXPECT_EQ(by_name(closure), (Map{{"c.h", "// beside\n"}, {"2/c.h", "// by path\n"}}));
}

TEST_F(Headers, AFileWhereTheGeneratedHeadersWouldBeIsTakenApart) {
  write("inc/kiln/own.h", "#include \"values.h\"\n#include \"code/piece.h\"\n#include \"kiln/values.h\"\n");
  write("inc/kiln/values.h", "// theirs\n");
  write("inc/kiln/code/piece.h", "// theirs too\n");
  EXPECT_EQ(by_name(find("#include <kiln/own.h>\n#include <kiln/values.h>\n", {"inc"})),
            (Map{{"kiln/own.h",
                  "#include \"2/kiln/values.h\"\n#include \"2/kiln/code/piece.h\"\n#include \"kiln/values.h\"\n"},
                 {"2/kiln/values.h", "// theirs\n"},
                 {"2/kiln/code/piece.h", "// theirs too\n"}}));
}

TEST_F(Headers, OneFileUnderTwoSpellingsIsOneHeader) {
  write("main/c.h", "#pragma once\n");
  write("main/d/e.h", "#include \"../c.h\"\n");
  fs::create_symlink(dir_ / "main/c.h", dir_ / "main/link.h");
  Closure closure = find("#include \"./c.h\"\n#include \"c.h\"\n#include \"d/e.h\"\n#include \"link.h\"\n");
  EXPECT_EQ(closure.text, "#include \"./c.h\"\n#include \"./c.h\"\n#include \"d/e.h\"\n#include \"./c.h\"\n");
  EXPECT_EQ(by_name(closure), (Map{{"./c.h", "#pragma once\n"}, {"d/e.h", "#include \"./c.h\"\n"}}));
}

TEST_F(Headers, DirectoriesAreSearchedInOrder) {
  write("one/x.h", "// one\n");
  write("two/x.h", "// two\n");
  EXPECT_EQ(by_name(find("#include <x.h>\n", {"one", "two"})), (Map{{"x.h", "// one\n"}}));
  EXPECT_EQ(by_name(find("#include <x.h>\n", {"two", "one"})), (Map{{"x.h", "// two\n"}}));
}

TEST_F(Headers, IncludeNextGoesOnAfterItsOwnDirectory) {
  write("one/x.h", "#include_next <x.h>\n");
  write("two/x.h", "// two\n");
  EXPECT_EQ(by_name(find("#include <x.h>\n", {"one", "two"})),
            (Map{{"x.h", "#include <2/x.h>\n"}, {"2/x.h", "// two\n"}}));
}

TEST_F(Headers, CyclesEnd) {
  write("main/a.h", "#pragma once\n#include \"b.h\"\n");
  write("main/b.h", "#pragma once\n#include \"a.h\"\n");
  EXPECT_EQ(by_name(find("#include \"a.h\"\n")).size(), 2u);
}

TEST_F(Headers, InactiveBranchesCount) {
  write("main/a.h", "// a\n");
  EXPECT_EQ(by_name(find("#if 0\n#include \"a.h\"\n#endif\n")), (Map{{"a.h", "// a\n"}}));
}

TEST_F(Headers, WhatCannotBeFoundIsLeftToTheCompiler) {
  Closure closure = find("#include \"nowhere.h\"\n#include <nowhere.h>\n");
  EXPECT_EQ(closure.text, "#include \"nowhere.h\"\n#include <nowhere.h>\n");
  EXPECT_TRUE(closure.headers.empty());
}

TEST_F(Headers, TestsForHeadersAreAnswered) {
  write("main/d/here.h", "// only its being there counts\n");
  write("main/d/asks.h", "#if __has_include(\"here.h\")\n#endif\n");
  write("inc/sys.h", "\n");
  Closure closure = find(
      "#include \"d/asks.h\"\n#if __has_include(<sys.h>) && !__has_include(\"gone.h\") && "
      "__has_include(\"kiln/values.h\")\n#endif\n",
      {"inc"});
  EXPECT_EQ(closure.text, "#include \"d/asks.h\"\n#if 1 && !0 && 1\n#endif\n");
  EXPECT_EQ(by_name(closure), (Map{{"d/asks.h", "#if 1\n#endif\n"}}));
}

TEST_F(Headers, AreNamedByWhereTheyWereLookedFor) {
  write("main/d/near.h", "#include \"../beside.h\"\n");
  write("main/beside.h", "\n");
  write("main/asked.h", "\n");
  write("main/idle.h", "\n");
  write("inc/sys.h", "\n");
  write("inc/wanted.h", "\n");
  Closure closure = find(
      "#include \"d/near.h\"\n#include <sys.h>\n#include \"gone.h\"\n#if __has_include(\"asked.h\") && "
      "__has_include(<wanted.h>) && !__has_include(<missing.h>)\n#endif\n",
      {"inc"});
  EXPECT_EQ(closure.files,
            (std::vector<fs::path>{dir_ / "inc/gone.h", dir_ / "inc/missing.h", dir_ / "inc/sys.h",
                                   dir_ / "inc/wanted.h", dir_ / "main/asked.h", dir_ / "main/d/../beside.h",
                                   dir_ / "main/d/near.h", dir_ / "main/gone.h"}));
  EXPECT_TRUE(in_memory("#include \"a.h\"\n#if __has_include(\"a.h\")\n#endif\n", {{"a.h", ""}}).files.empty());
}

TEST_F(Headers, RewritingKeepsTheNumberOfLines) {
  write("main/a/b.h", "#include \\\n  \"c.h\" // x\n#if __has_include( \\\n \"c.h\" \\\n )\n#endif\n");
  write("main/a/c.h", "\n");
  Map headers = by_name(find("#include \"a/b.h\"\n"));
  EXPECT_EQ(headers["a/b.h"], "#include \"a/c.h\" \\\n // x\n#if 1 \\\n \\\n\n#endif\n");
}

TEST_F(Headers, MacroIncludesAreFollowed) {
  write("main/config.h", "#define IMPL \"impl/one.h\"\n#define OTHER IMPL2\n");
  write("main/impl/one.h", "// one\n");
  write("main/impl/two.h", "// two\n");
  write("main/three.h", "// three\n");
  options_ = {"-DIMPL2=\"impl/two.h\"", "-D", "UNUSED=\"gone.h\""};
  Closure closure = find("#include \"config.h\"\n#include IMPL\n#include OTHER\n#include STR(three.h)\n");
  Map headers = by_name(closure);
  EXPECT_EQ(headers.size(), 4u);
  EXPECT_EQ(headers["impl/one.h"], "// one\n");
  EXPECT_EQ(headers["impl/two.h"], "// two\n");
  EXPECT_EQ(headers["three.h"], "// three\n");
}

TEST_F(Headers, MacroNamesSpelledOtherwiseGetAnAlias) {
  write("main/d/config.h", "#define IMPL \"one.h\"\n#include IMPL\n");
  write("main/d/one.h", "// one\n");
  Map headers = by_name(find("#include \"d/config.h\"\n"));
  EXPECT_EQ(headers["d/one.h"], "// one\n");
  EXPECT_EQ(headers["one.h"], "#include \"d/one.h\"\n");
}

TEST_F(Headers, AMacroForTwoFilesOfOneNameIsRefused) {
  write("main/one.h", "// main's\n");
  write("main/d/config.h", "#define IMPL \"one.h\"\n#include IMPL\n");
  write("main/d/one.h", "// d's\n");
  EXPECT_THROW(find("#include \"one.h\"\n#include \"d/config.h\"\n"), TemplateError);
}

TEST_F(Headers, NoFolderOfTheMachineGetsIn) {
  write("inc/x.h", "#include \"y.h\"\n");
  write("inc/y.h", "\n");
  write("elsewhere/abs.h", "#include \"rel.h\"\n");
  write("elsewhere/rel.h", "\n");
  std::string absolute = (dir_ / "elsewhere/abs.h").string();
  Closure closure = find("#include <x.h>\n#include \"" + absolute + "\"\n#include \"/gone/z.h\"\n#define H \"" +
                             absolute + "\"\n#include H\n",
                         {"inc"});
  EXPECT_EQ(closure.text,
            "#include <x.h>\n#include \"abs.h\"\n#include \"gone/z.h\"\n#define H \"abs.h\"\n#include H\n");
  for (const auto& [name, text] : by_name(closure)) {
    EXPECT_EQ(name.find(dir_.path().string()), std::string::npos);
    EXPECT_EQ(text.find(dir_.path().string()), std::string::npos);
  }
}

TEST_F(Headers, AComputedIncludeThatCouldBeAbsoluteIsRefusedByFileAndLine) {
  write("main/a.h", "#define S(x) #x\n\n#include S(/abs/x.h)\n");
  for (const char* text : {"#include \"a.h\"\n", "#include <a.h>\n"}) {
    try {
      find(text, {"main"});
      FAIL();
    } catch (const TemplateError& error) {
      EXPECT_NE(std::string(error.what()).find("a.h:3: this #include could name a file by its absolute path"),
                std::string::npos)
          << error.what();
    }
  }
  options_ = {"-DD=/abs"};
  EXPECT_THROW(find("#define H <D/x.h>\n#include H\n"), TemplateError);
  EXPECT_THROW(find("#define S(x) #x\n#if __has_include(S(/abs/x.h))\n#endif\n"), TemplateError);
  EXPECT_THROW(find("#inc\\\nlude \"/abs/x.h\"\n"), TemplateError);
}

TEST_F(Headers, TrigraphsAreRefusedWhereTheyMeanSomething) {
  EXPECT_NO_THROW(find("// what\?\?/\n"));
  options_ = {"--std=c++14"};
  EXPECT_THROW(find("\?\?=include \"/abs/x.h\"\n"), TemplateError);
  EXPECT_NO_THROW(find("// what?\n"));
}

TEST_F(Headers, NamesAndTextsTheCompilerWouldCutAreRefused) {
  EXPECT_THROW(in_memory("", {{"a\nb.h", ""}}), TemplateError);
  EXPECT_THROW(in_memory("", {{"", ""}}), TemplateError);
  write("main/x.h", std::string("int a;\0int b;", 13));
  EXPECT_THROW(find("#include \"x.h\"\n"), TemplateError);
}

TEST_F(Headers, AnOptionWithAnAbsoluteHeaderIsRefused) {
  options_ = {"-DH=\"/abs/x.h\""};
  EXPECT_THROW(find("#include H\n"), TemplateError);
  options_ = {"--define-macro=H=\"/abs/x.h\""};
  EXPECT_THROW(find("#include H\n"), TemplateError);
}

TEST_F(Headers, TheSameTreeElsewhereGivesTheSameHeaders) {
  for (const char* root : {"here/", "there/deeper/"}) {
    write(root + std::string("m/c.h"), "#include <c.h>\n");
    write(root + std::string("i/c.h"), "\n");
  }
  auto from = [&](const std::string& root) {
    HeaderSearch search;
    search.beside = dir_ / (root + "m");
    search.include_dirs = {dir_ / (root + "i")};
    return find_headers("t.cu", "#include \"c.h\"\n", search);
  };
  EXPECT_EQ(from("here/").headers, from("there/deeper/").headers);
}

TEST_F(Headers, AChangeTwoIncludesDeepShows) {
  write("main/a.h", "#include \"b.h\"\n");
  write("main/b.h", "// old\n");
  write("main/unreachable.h", "// old\n");
  std::vector<Header> before = find("#include \"a.h\"\n").headers;
  write("main/unreachable.h", "// new\n");
  EXPECT_EQ(find("#include \"a.h\"\n").headers, before);
  write("main/b.h", "// new\n");
  EXPECT_NE(find("#include \"a.h\"\n").headers, before);
}

TEST(HeadersInMemory, NestAndWinOverKilnsOwn) {
  Closure closure = in_memory(
      "#include <a/b.h>\n#include \"kiln/direct.cuh\"\n",
      {{"a/b.h", "#include \"c.h\"\n"}, {"a/c.h", "// c\n"}, {"c.h", "// no\n"}, {"kiln/direct.cuh", "// mine\n"}});
  EXPECT_EQ(by_name(closure),
            (Map{{"a/b.h", "#include \"a/c.h\"\n"}, {"a/c.h", "// c\n"}, {"kiln/direct.cuh", "// mine\n"}}));
}

TEST(HeadersInMemory, AllCountWhereSnippetsMayIncludeThem) {
  EXPECT_TRUE(in_memory("\n", {{"a.h", "// a\n"}}).headers.empty());
  EXPECT_EQ(by_name(in_memory("\n", {{"a.h", "// a\n"}}, true)), (Map{{"a.h", "// a\n"}}));
}

TEST(HeadersInMemory, GeneratedNamesAreTaken) {
  EXPECT_THROW(in_memory("\n", {{"kiln/values.h", ""}}), TemplateError);
  EXPECT_THROW(in_memory("\n", {{"kiln/code/x.h", ""}}), TemplateError);
}

TEST(HeadersInMemory, KilnsOwnAreThereForEveryTemplate) {
  Map headers = by_name(in_memory("#include \"kiln/index_table.cuh\"\n#include <kiln/values.h>\n", {}));
  EXPECT_TRUE(headers.contains("kiln/index_table.cuh"));
  EXPECT_FALSE(headers.contains("kiln/values.h"));
}

}  // namespace
}  // namespace kiln::jit
