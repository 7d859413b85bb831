// Which requests have the same key, and which have not: thousands of pairs made at random, and some made by hand to
// be mistaken for each other.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <clocale>
#include <cmath>
#include <functional>
#include <locale>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "service_fixture.hpp"

namespace kiln::test {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t bound) {
  return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
}

/// Everything that a key stands for, as plain text.
struct Asked {
  std::string name = "asked.cu";
  std::string body = "__global__ void f() {}\n";
  std::map<std::string, std::string> headers;  ///< in memory, by name
  std::vector<std::string> options;
  std::vector<std::string> entries{"f"};
  std::uint32_t n = 0;
  double x = 0.0;
  std::string type = "float";
  std::string code;
  std::vector<std::int64_t> list{0};
  std::string target = "sm_80";

  auto operator<=>(const Asked&) const = default;
};

Template template_of(const Asked& asked) {
  TemplateOptions options;
  options.headers = asked.headers;
  options.options = asked.options;
  options.entries = asked.entries;
  std::string includes;
  for (const auto& [name, text] : asked.headers) {
    includes += "#include \"" + name + "\"\n";
  }
  return Template::from_text(asked.name,
                             "// kiln: parameter n: u32\n// kiln: parameter x: f64\n// kiln: parameter t: type\n"
                             "// kiln: parameter c: code\n// kiln: parameter l: i64[]\n#include \"kiln/values.h\"\n" +
                                 includes + asked.body,
                             options);
}

std::string key_of(const Service& service, const Asked& asked) {
  const Values values{
      {"n", asked.n}, {"x", asked.x}, {"t", TypeName{asked.type}}, {"c", Code{asked.code}}, {"l", asked.list}};
  return service.key_of(template_of(asked), values, Target::parse(asked.target)).first.text();
}

/// Texts that a careless spec would take for other fields of it, or for the end of one.
std::string text(Random& random) {
  static const std::vector<std::string> k_pieces{"a",
                                                 "b",
                                                 " ",
                                                 "\n",
                                                 "0",
                                                 "7",
                                                 "8 1 ",
                                                 "value n",
                                                 "value n\n1\n",
                                                 "6 6 source\n",
                                                 "header h.h\n",
                                                 "option",
                                                 "entry\nf\n",
                                                 "target\nsm_80\n",
                                                 "5 1 entry\nf\n",
                                                 "6 5 target\nsm_90\n",
                                                 "//",
                                                 "/*",
                                                 "*/",
                                                 "kiln",
                                                 "=",
                                                 ",",
                                                 "<",
                                                 ">"};
  std::string text;
  for (std::size_t i = below(random, 5); i > 0; --i) {
    text += k_pieces[below(random, k_pieces.size())];
  }
  return text;
}

/// Each changes one field, perhaps to what it was.
const std::vector<std::function<void(Asked&, Random&)>> k_changes{
    [](Asked& asked, Random& random) {
      asked.name = std::string(1, static_cast<char>('a' + below(random, 3))) + ".cu";
    },
    [](Asked& asked, Random& random) {
      asked.body = "// " + std::to_string(below(random, 4)) + "\n/*" + text(random) + "*/\n";
    },
    [](Asked& asked, Random& random) { asked.headers["h.h"] = text(random); },
    [](Asked& asked, Random& random) { asked.headers["i.h"] = text(random); },
    [](Asked& asked, Random&) { asked.headers.erase("h.h"); },
    [](Asked& asked, Random& random) { asked.options.push_back("-DM" + std::to_string(below(random, 3))); },
    [](Asked& asked, Random& random) {
      if (!asked.options.empty()) {
        std::swap(asked.options.front(), asked.options[below(random, asked.options.size())]);
      }
    },
    [](Asked& asked, Random&) { asked.options.clear(); },
    [](Asked& asked, Random& random) { asked.entries.push_back("g" + std::to_string(below(random, 3))); },
    [](Asked& asked, Random&) { asked.entries = {"f"}; },
    [](Asked& asked, Random& random) { asked.n = static_cast<std::uint32_t>(below(random, 4)); },
    [](Asked& asked, Random& random) { asked.x = std::vector{0.0, 1.0, 0.1, 1e-300, 1e300}[below(random, 5)]; },
    [](Asked& asked, Random& random) { asked.type = std::vector{"float", "int", "v<1>", "v<2>"}[below(random, 4)]; },
    [](Asked& asked, Random& random) { asked.code = text(random); },
    [](Asked& asked, Random& random) { asked.list.push_back(static_cast<std::int64_t>(below(random, 3))); },
    [](Asked& asked, Random&) { asked.list = {0}; },
    [](Asked& asked, Random& random) {
      asked.target =
          std::vector{"sm_80", "sm_90", "sm_90a", "compute_90", "sm_100", "sm_100a", "sm_100f"}[below(random, 7)];
    },
};

class RequestKey : public ServiceTest {
 protected:
  /// Whatever is asked for: another request has another key, the same one the same.
  void expect_to_tell_apart(const Asked& asked) {
    const std::string key = key_of(service_, asked);
    const auto [found, is_new] = asked_.try_emplace(key, asked);
    EXPECT_TRUE(is_new || found->second == asked) << "two requests have the key " << key;
    const auto [same, is_first] = keys_.try_emplace(asked, key);
    EXPECT_TRUE(is_first || same->second == key) << "one request has the keys " << key << " and " << same->second;
  }

  Service service_{options()};
  std::map<std::string, Asked> asked_;
  std::map<Asked, std::string> keys_;
};

TEST_F(RequestKey, AnyDifferenceMakesAnother) {
  Random random(20260101);
  for (int base = 0; base < 300 && !HasFailure(); ++base) {
    Asked asked;
    for (std::size_t i = below(random, 6); i > 0; --i) {
      k_changes[below(random, k_changes.size())](asked, random);
    }
    expect_to_tell_apart(asked);
    for (const auto& change : k_changes) {
      Asked other = asked;
      change(other, random);
      expect_to_tell_apart(other);
    }
  }
  EXPECT_GT(keys_.size(), 2000U) << "the changes did change something";
  EXPECT_EQ(keys_.size(), asked_.size());
}

TEST_F(RequestKey, OneByteOfAnyFieldMakesAnother) {
  Asked asked;
  asked.body = "__global__ void f() { int a = 1; }\n";
  asked.headers["h.h"] = "#define H 1\n";
  asked.code = "a + b";
  expect_to_tell_apart(asked);
  for (std::string* field : {&asked.body, &asked.headers["h.h"], &asked.code}) {
    for (std::size_t i = 0; i < field->size(); ++i) {
      const char before = std::exchange((*field)[i], (*field)[i] == 'x' ? 'y' : 'x');
      expect_to_tell_apart(asked);
      (*field)[i] = before;
    }
    for (const char* end : {" ", "\n", "\t"}) {
      const std::string before = *field;
      *field += end;
      expect_to_tell_apart(asked);
      *field = before;
    }
  }
}

TEST_F(RequestKey, ContentMovedAcrossABorderMakesAnother) {
  const std::string both = "#define A 1\n5 3 entry\nabc\n";
  for (std::size_t cut = 0; cut <= both.size(); ++cut) {
    Asked asked;
    asked.headers = {{"h.h", both.substr(0, cut)}, {"i.h", both.substr(cut)}};
    expect_to_tell_apart(asked);
    asked.headers = {{"h.h", both.substr(0, cut)}};
    asked.code = both.substr(cut);
    expect_to_tell_apart(asked);
    asked.headers.clear();
    asked.body += both.substr(0, cut);
    expect_to_tell_apart(asked);
  }
  for (const std::vector<std::string>& entries :
       std::vector<std::vector<std::string>>{{"f", "g"}, {"g", "f"}, {"f"}, {"g"}, {"f<g>"}, {"f<g, h>"}}) {
    Asked asked;
    asked.entries = entries;
    expect_to_tell_apart(asked);
  }
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"-DA", "-DB"}, {"-DB", "-DA"}, {"-DA -DB"}, {"-DA"}, {"-DA", "-DA"}, {"-DA=-DB"}, {"-DA=1"}}) {
    Asked asked;
    asked.options = options;
    expect_to_tell_apart(asked);
  }
}

// Where a field ends must not depend on what is in it.
TEST_F(RequestKey, AFieldThatLooksLikeTwoMakesAnother) {
  const std::string first = "#define A 1";
  const std::string second = "#define B 2";
  Asked two;
  two.body = "#include \"h.h\"\n#include \"i.h\"\n";  // the same for both
  two.headers = {{"h.h", first}, {"i.h", second}};
  const auto body_alone = [this](const Asked& asked) {
    TemplateOptions options;
    options.headers = asked.headers;
    options.entries = asked.entries;
    const Template tmpl =
        Template::from_text("asked.cu", "// kiln: parameter c: code\n" + asked.body, std::move(options));
    return service_.key_of(tmpl, {{"c", Code{asked.code}}}, Target::parse("sm_80"));
  };
  const auto [key, spec] = body_alone(two);
  ASSERT_NE(spec.find("header i.h"), std::string::npos);
  // As the spec has it, and as one without lengths, without line ends or without both would.
  const std::string as_it_is = spec.substr(spec.find(first) + first.size());
  const std::string between = as_it_is.substr(0, as_it_is.find(second));
  for (const std::string& border :
       {between, std::string("\nheader i.h\n"), std::string("header i.h\n"), std::string("\nheader i.h"),
        std::string("header i.h"), std::string("\n10 11 header i.h\n")}) {
    Asked one = two;
    one.headers = {{"h.h", first + border + second}};
    EXPECT_NE(body_alone(one).first, key) << border;
  }
  Asked in_code = two;
  in_code.code = "x";
  const auto [code_key, code_spec] = body_alone(in_code);
  for (const char* border : {"\nheader h.h\n", "header h.h\n", "header h.h"}) {
    Asked forged = two;
    forged.headers.erase("h.h");
    forged.code = std::string("x") + border + first;
    EXPECT_NE(body_alone(forged).first, code_key) << border;
  }
}

TEST_F(RequestKey, ValuesThatAreWrittenAlikeAreToldApart) {
  for (double x : {0.0, -0.0, 1.0, std::nextafter(1.0, 2.0), 0.1, 0.1f * 1.0, 1e22, std::nextafter(1e22, 2e22)}) {
    Asked asked;
    asked.x = x;
    EXPECT_TRUE(asked_.try_emplace(key_of(service_, asked), asked).second) << x;
  }
}

/// Digits in groups and a decimal comma.
struct German : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

class RequestKeyElsewhere : public RequestKey {
 protected:
  /// A template of three files in `folder`, which reaches a header two includes deep.
  static void write_template(const std::filesystem::path& folder, const std::string& deep) {
    std::filesystem::create_directories(folder / "include" / "inner");
    write_file(folder / "main.cu",
               "// kiln: parameter n: u32\n// kiln: parameter x: f64\n// kiln: entry f\n#include \"kiln/values.h\"\n"
               "#include \"outer.h\"\n__global__ void f() {}\n");
    write_file(folder / "include" / "outer.h", "#include \"inner/deep.h\"\n");
    write_file(folder / "include" / "inner" / "deep.h", deep);
    write_file(folder / "include" / "unused.h", folder.string());
  }
  static std::string key_in(const std::filesystem::path& folder) {
    ServiceOptions nothing;
    return Service(nothing)
        .key_of(Template::from_file(folder / "main.cu", {.include_dirs = {folder / "include"}}),
                {{"n", 1234567}, {"x", 1234567.25}}, Target::parse("sm_80"))
        .first.text();
  }
};

TEST_F(RequestKeyElsewhere, FoldersTimesAndUnreachableHeadersDoNotCount) {
  write_template(folder_ / "a", "#define DEEP 1\n");
  write_template(folder_ / "b" / "b", "#define DEEP 1\n");
  const std::string key = key_in(folder_ / "a");
  EXPECT_EQ(key_in(folder_ / "b" / "b"), key);
  write_file(folder_ / "a" / "include" / "unused.h", "changed");
  EXPECT_EQ(key_in(folder_ / "a"), key);
  std::filesystem::last_write_time(folder_ / "a" / "include" / "inner" / "deep.h",
                                   std::filesystem::file_time_type::clock::now() + std::chrono::hours(10000));
  EXPECT_EQ(key_in(folder_ / "a"), key) << "content counts, not when it was written";
  write_file(folder_ / "a" / "include" / "inner" / "deep.h", "#define DEEP 2\n");
  EXPECT_NE(key_in(folder_ / "a"), key) << "two includes deep";
}

TEST_F(RequestKeyElsewhere, ALinkAndARelativePathAreTheSame) {
  write_template(folder_ / "a", "#define DEEP 1\n");
  const std::string key = key_in(folder_ / "a");
  std::filesystem::create_directory_symlink(folder_ / "a", folder_ / "link");
  EXPECT_EQ(key_in(folder_ / "link"), key);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  EXPECT_EQ(key_in("a"), key);
  EXPECT_EQ(key_in("./a/../a/"), key);
  std::filesystem::current_path(before);
}

TEST_F(RequestKeyElsewhere, UserHostTimeZoneLocaleAndEnvironmentDoNotCount) {
  write_template(folder_ / "a", "#define DEEP 1\n");
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  const std::string key = key_in(folder_ / "a");
  int status = ChildProcess([&] {
                 for (const char* name : {"HOME", "USER", "LOGNAME", "TZ", "LANG", "LC_ALL", "HOSTNAME", "PWD",
                                          "TMPDIR", "PATH", "CUDA_HOME", "NVRTC_APPEND_FLAGS"}) {
                   ::setenv(name, "Pacific/Auckland", 1);
                 }
                 std::locale::global(std::locale(std::locale(), new German));
                 std::setlocale(LC_ALL, "de_DE.UTF-8");
                 // As far as this user may:
                 if (::unshare(CLONE_NEWUTS) == 0 && ::sethostname("elsewhere", 9) != 0) {
                   return 2;
                 }
                 std::filesystem::current_path("/");
                 if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) {
                   return 3;
                 }
                 return key_in(folder_ / "a") == key ? 0 : 1;
               }).wait();
  EXPECT_EQ(status, 0);
}

TEST_F(RequestKeyElsewhere, AHundredProcessesHaveOne) {
  write_template(folder_ / "a", "#define DEEP 1\n");
  const std::string key = key_in(folder_ / "a");
  std::vector<ChildProcess> children;
  for (int i = 0; i < 100; ++i) {
    children.emplace_back([&] { return key_in(folder_ / "a") == key ? 0 : 1; });
  }
  for (ChildProcess& child : children) {
    EXPECT_EQ(child.wait(), 0);
  }
}

}  // namespace
}  // namespace kiln::test
