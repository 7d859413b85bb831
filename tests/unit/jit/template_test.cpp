#include "kiln/template.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "kiln/error.hpp"
#include "kiln/source.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln {
namespace {

constexpr const char* k_text =
    "// kiln: parameter n: u32\n"
    "// kiln: entry k\n"
    "__global__ void k(int* p) { *p = 1; }\n";

std::string message_of(auto&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing thrown";
  return {};
}

TEST(Template, HoldsWhatTheTextDeclares) {
  Template tmpl = Template::from_text("t.cu", k_text, {.options = {"--use_fast_math"}});
  EXPECT_EQ(tmpl.name(), "t.cu");
  EXPECT_EQ(tmpl.text(), k_text);
  ASSERT_EQ(tmpl.parameters().size(), 1u);
  EXPECT_EQ(tmpl.parameters()[0].name, "n");
  EXPECT_EQ(tmpl.entries(), std::vector<std::string>{"k"});
  EXPECT_EQ(tmpl.options(), std::vector<std::string>{"--use_fast_math"});
  EXPECT_TRUE(tmpl.headers().empty());
}

TEST(Template, EntriesGivenReplaceThoseDeclared) {
  EXPECT_EQ(Template::from_text("t.cu", k_text, {.entries = {"a<1>", "b"}}).entries(),
            (std::vector<std::string>{"a<1>", "b"}));
}

TEST(Template, NeedsAnEntry) {
  std::string text = message_of([] { Template::from_text("t.cu", "__global__ void k() {}"); });
  EXPECT_NE(text.find("add a line '// kiln: entry NAME'"), std::string::npos) << text;
}

TEST(Template, NeedsAPlainName) {
  for (const char* name : {"", ".", "..", "a/b.cu", "/abs.cu", "a\\b", "a\nb", "a\"b"}) {
    EXPECT_THROW(Template::from_text(name, k_text), TemplateError) << name;
  }
  EXPECT_EQ(Template::from_text("kernel with blanks.cu", k_text).name(), "kernel with blanks.cu");
}

TEST(Template, RefusesNulCharacters) {
  std::string text = message_of([] { Template::from_text("t.cu", std::string(k_text) + '\0'); });
  EXPECT_NE(text.find("NUL"), std::string::npos);
}

TEST(Template, IsReadFromAFileWithTheHeadersBesideIt) {
  test::TempDir dir;
  test::write_file(dir / "scale.cu", "#include \"common.h\"\n" + std::string(k_text));
  test::write_file(dir / "common.h", "#define ONE 1\n");
  Template tmpl = Template::from_file(dir / "scale.cu");
  EXPECT_EQ(tmpl.name(), "scale.cu");
  EXPECT_EQ(tmpl.headers(), (std::vector<Header>{{"common.h", "#define ONE 1\n"}}));
  // Independent of the disk from now on.
  std::filesystem::remove(dir / "common.h");
  EXPECT_EQ(tmpl.headers()[0].text, "#define ONE 1\n");
}

TEST(Template, AMissingFileIsNamed) {
  std::string text = message_of([] { Template::from_file("/nonexistent/scale.cu"); });
  EXPECT_NE(text.find("/nonexistent/scale.cu"), std::string::npos) << text;
  test::TempDir dir;
  EXPECT_NE(message_of([&] { Template::from_file(dir.path()); }).find(dir.path().string()), std::string::npos);
}

TEST(Template, BuiltinsAreKnownByName) {
  std::vector<std::string> names = Template::builtin_names();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_NE(std::find(names.begin(), names.end(), "permute_direct"), names.end());
  for (const std::string& name : names) {
    Template tmpl = Template::builtin(name);
    EXPECT_EQ(tmpl.name(), name + ".cu");
    EXPECT_EQ(Template::builtin(name + ".cu").text(), tmpl.text());
    std::string on_disk = test::read_file(std::filesystem::path(KILN_SOURCE_DIR) / "templates" / (name + ".cu"));
    EXPECT_EQ(tmpl.text(), on_disk);
    for (const Header& header : tmpl.headers()) {
      EXPECT_EQ(header.text, test::read_file(std::filesystem::path(KILN_SOURCE_DIR) / "templates" / header.name));
    }
  }
}

TEST(Template, BuiltinsHaveTheHeadersThatALookFinds) {
  for (const std::string& name : Template::builtin_names()) {
    std::string text = test::read_file(std::filesystem::path(KILN_SOURCE_DIR) / "templates" / (name + ".cu"));
    const Template looked_for = Template::from_text(name + ".cu", text);
    EXPECT_FALSE(looked_for.headers().empty()) << name;
    EXPECT_EQ(Template::builtin(name).headers(), looked_for.headers()) << name;
    EXPECT_EQ(Template::builtin(name).text(), looked_for.text()) << name;
  }
}

TEST(Template, ABuiltinTakesAHeaderInPlaceOfItsOwn) {
  const std::string mine = "// mine\n";
  const Template tmpl = Template::builtin("permute_direct", {.headers = {{"kiln/direct.cuh", mine}}});
  const auto& headers = tmpl.headers();
  auto found = std::find(headers.begin(), headers.end(), Header{"kiln/direct.cuh", mine});
  EXPECT_NE(found, headers.end());
}

TEST(Template, UnknownBuiltinListsTheKnown) {
  std::string text = message_of([] { Template::builtin("permute_sideways"); });
  EXPECT_NE(text.find("no built-in template 'permute_sideways', only "), std::string::npos) << text;
  EXPECT_NE(text.find("permute_direct"), std::string::npos) << text;
}

TEST(Template, ParsesValuesOfItsParameters) {
  Template tmpl = Template::from_text("t.cu", k_text);
  EXPECT_EQ(tmpl.parse_value("n", "36"), Value(36u));
  EXPECT_NE(message_of([&] { tmpl.parse_value("m", "36"); }).find("no parameter 'm': the template declares n"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              tmpl.parse_value("n", "x");
            }).find("declared u32: 'x' is not a whole number from 0 to 4294967295"),
            std::string::npos);
}

TEST(Template, AnIncludeFolderMustBeThere) {
  test::TempDir dir;
  TemplateOptions options;
  options.include_dirs = {dir.path()};
  EXPECT_NO_THROW(Template::from_text("t.cu", std::string(k_text), options));
  options.include_dirs.push_back(dir / "none");
  auto make = [&] { Template::from_text("t.cu", std::string(k_text), options); };
  EXPECT_EQ(message_of(make), "include folder '" + (dir / "none").string() +
                                  "' cannot be searched: there is no such file or folder; check the name");
  test::write_file(dir / "none", "");
  EXPECT_EQ(message_of(make),
            "include folder '" + (dir / "none").string() + "' cannot be searched: it is no folder; name one");
}

TEST(Template, AnEntryIsOneLine) {
  for (const char* entry : {"", "  ", "a\n#include \"/x.h\"", "a\\", "a\x1b", "a\t"}) {
    TemplateOptions options;
    options.entries = {entry};
    std::string said = message_of([&] { Template::from_text("t.cu", std::string(k_text), options); });
    EXPECT_NE(said.find("is no name of a kernel"), std::string::npos) << said;
  }
}

TEST(Template, CodeMustNotReachTheDisk) {
  Template tmpl = Template::from_text("t.cu", "// kiln: parameter c: code\n// kiln: entry k\n");
  std::string said = message_of([&] { instantiate(tmpl, {{"c", Code{"#include </etc/x.h>"}}}); });
  EXPECT_NE(said.find("parameter 'c' names the header '/etc/x.h' by an absolute path"), std::string::npos) << said;
}

}  // namespace
}  // namespace kiln
