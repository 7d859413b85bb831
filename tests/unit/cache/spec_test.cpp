#include "cache/spec.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>

namespace kiln::cache {
namespace {

struct Parts {
  Source source;
  std::vector<std::string> arguments;
  Target target = Target::cubin(90);
};

Parts sample() {
  Parts parts;
  parts.source.name = "a.cu";
  parts.source.text = "__global__ void f() {}";
  parts.source.literals = {{"n", "36u"}, {"piece", "x + 1"}};
  parts.source.headers = {
      {"kiln/values.h", "constexpr unsigned n = 36u;"}, {"kiln/code/piece.h", "x + 1\n"}, {"own.h", "int a;"}};
  parts.source.entries = {"f"};
  parts.arguments = {"--std=c++17"};
  return parts;
}

std::string spec_of(const Parts& parts) { return make_spec(parts.source, parts.arguments, parts.target); }

TEST(Spec, ReadsAsLabelledFields) {
  EXPECT_EQ(spec_of(sample()),
            "6 1 format\n1\n"
            "8 4 template\na.cu\n"
            "6 22 source\n__global__ void f() {}\n"
            "7 3 value n\n36u\n"
            "11 5 value piece\nx + 1\n"
            "12 6 header own.h\nint a;\n"
            "6 11 option\n--std=c++17\n"
            "5 1 entry\nf\n"
            "6 5 target\nsm_90\n");
}

TEST(Spec, ParsesWhatItMade) {
  std::string spec = spec_of(sample());
  std::vector<SpecField> fields = parse_spec(spec);
  ASSERT_EQ(fields.size(), 9U);
  EXPECT_EQ(fields[4].label, "value piece");
  EXPECT_EQ(fields[4].content, "x + 1");
  EXPECT_EQ(fields[8].label, "target");
  EXPECT_EQ(fields[8].content, "sm_90");
}

TEST(Spec, LeavesOutGeneratedHeadersOnly) {
  Parts parts = sample();
  parts.source.headers[0].text = "another way to write the same values";
  EXPECT_EQ(spec_of(parts), spec_of(sample()));
  // Not the values' headers: no such parameter, or not at the front.
  parts = sample();
  parts.source.headers.push_back({"kiln/code/other.h", "1"});
  std::string one = spec_of(parts);
  parts.source.headers.back().text = "2";
  EXPECT_NE(spec_of(parts), one);
  parts.source.headers.back() = {"kiln/values.h", "1"};
  one = spec_of(parts);
  parts.source.headers.back().text = "2";
  EXPECT_NE(spec_of(parts), one);
  // Right behind the generated ones, and called like one.
  for (const char* name : {"kiln/values.h", "kiln/code/piece.h", "kiln/code/n.h", "kiln/code/.h"}) {
    parts = sample();
    parts.source.headers[2] = {name, "1"};
    one = spec_of(parts);
    parts.source.headers[2].text = "2";
    EXPECT_NE(spec_of(parts), one) << name;
  }
}

TEST(Spec, AnyDifferenceMakesAnotherSpec) {
  const std::vector<std::function<void(Parts&)>> changes{
      [](Parts& p) { p.source.name = "b.cu"; },
      [](Parts& p) { p.source.text += ' '; },
      [](Parts& p) { p.source.literals[0].first = "m"; },
      [](Parts& p) { p.source.literals[0].second = "37u"; },
      [](Parts& p) { p.source.literals.pop_back(); },
      [](Parts& p) { p.source.literals.emplace_back("z", ""); },
      [](Parts& p) { p.source.headers[2].name = "other.h"; },
      [](Parts& p) { p.source.headers[2].text = "int b;"; },
      [](Parts& p) { p.source.headers.pop_back(); },
      [](Parts& p) { p.source.entries = {"g"}; },
      [](Parts& p) { p.source.entries.emplace_back("g"); },
      [](Parts& p) { p.source.entries.clear(); },
      [](Parts& p) { p.arguments = {"--std=c++20"}; },
      [](Parts& p) { p.arguments.insert(p.arguments.begin(), "-DX=1"); },
      [](Parts& p) { p.arguments.emplace_back("-DX=1"); },
      [](Parts& p) { p.arguments.clear(); },
      [](Parts& p) { p.target = Target::cubin(90, 'a'); },
      [](Parts& p) { p.target = Target::cubin(89); },
      [](Parts& p) { p.target = Target::ptx(90); },
      // One field's content that imitates another field.
      [](Parts& p) { p.source.text += "\n7 3 value n\n36u"; },
      [](Parts& p) { p.source.name += "\n6 22 source\n__global__ void f() {}"; },
      [](Parts& p) { p.source.literals[0].second += "\n11 5 value piece\nx + 1"; },
      [](Parts& p) { p.source.literals[0].first += "\n36u\n11 5 value piece"; },
      [](Parts& p) { p.source.headers[2].text += "\n6 11 option\n--std=c++17"; },
      [](Parts& p) { p.source.headers[2].name += "\nint a;\n5 1 entry"; },
      [](Parts& p) { p.arguments[0] += "\n5 1 entry\nf"; },
      [](Parts& p) { p.source.entries[0] += "\n6 5 target\nsm_90"; },
  };
  std::map<std::string, std::size_t> seen;
  seen[spec_of(sample())] = changes.size();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Parts parts = sample();
    changes[i](parts);
    auto [other, is_new] = seen.emplace(spec_of(parts), i);
    EXPECT_TRUE(is_new) << "change " << i << " has the spec of " << other->second;
    EXPECT_NE(key_of(spec_of(parts)), key_of(spec_of(sample())));
  }
}

/// A text of pieces that specs are made of, so that random fields imitate one another as often as possible.
std::string adversarial(std::mt19937& random) {
  static const std::vector<std::string> k_pieces{"\n",
                                                 " ",
                                                 "1",
                                                 "6",
                                                 "0",
                                                 "5 1 entry\nf\n",
                                                 "entry",
                                                 "f",
                                                 "value ",
                                                 "n",
                                                 "option",
                                                 "source",
                                                 "6 0 option\n\n",
                                                 "header ",
                                                 "36u",
                                                 "",
                                                 "\n\n1",
                                                 "7 3 value n\n36u\n"};
  std::string text;
  for (std::size_t i = random() % 4; i > 0; --i) {
    text += k_pieces[random() % k_pieces.size()];
  }
  return text;
}

Parts random_parts(std::mt19937& random) {
  Parts parts;
  parts.source.name = adversarial(random);
  parts.source.text = adversarial(random);
  for (std::size_t i = random() % 3; i > 0; --i) {
    parts.source.literals.emplace_back(adversarial(random), adversarial(random));
  }
  for (std::size_t i = random() % 3; i > 0; --i) {
    parts.source.headers.push_back({adversarial(random), adversarial(random)});
  }
  for (std::size_t i = random() % 3; i > 0; --i) {
    parts.arguments.push_back(adversarial(random));
  }
  for (std::size_t i = random() % 3; i > 0; --i) {
    parts.source.entries.push_back(adversarial(random));
  }
  return parts;
}

bool equal(const Parts& a, const Parts& b) {
  return a.source.name == b.source.name && a.source.text == b.source.text && a.source.literals == b.source.literals &&
         a.source.headers == b.source.headers && a.arguments == b.arguments && a.source.entries == b.source.entries;
}

TEST(Spec, RandomRequestsThatDifferHaveDifferentSpecs) {
  std::mt19937 random(7);  // NOLINT: the same requests each time
  std::map<std::string, Parts> seen;
  for (int i = 0; i < 20000; ++i) {
    Parts parts = random_parts(random);
    std::string spec = spec_of(parts);
    EXPECT_FALSE(parse_spec(spec).empty());
    auto [before, is_new] = seen.emplace(spec, parts);
    ASSERT_TRUE(is_new || equal(before->second, parts)) << spec;
  }
  EXPECT_GT(seen.size(), 10000U);
}

TEST(Spec, MalformedTextsAreRefused) {
  for (const char* text :
       {"x", "1", "1 ", "1 1", "1 1 ", "1 1 a", "1 1 a\n", "1 1 a\nb", "1 2 a\nb\n", "2 1 a\nb\n", "01 1 a\nb\n",
        "1 01 a\nb\n", "-1 1 a\nb\n", "+1 1 a\nb\n", " 1 1 a\nb\n", "18446744073709551615 1 a\nb\n",
        "1 18446744073709551615 a\nb\n", "99999999999999999999999 1 a\nb\n", "1 1 a\nb\nrest"}) {
    EXPECT_TRUE(parse_spec(text).empty()) << text;
  }
  EXPECT_EQ(parse_spec("1 1 a\nb\n").size(), 1U);
  EXPECT_EQ(parse_spec("0 0 \n\n").size(), 1U);
}

TEST(Spec, AnySpoiledSpecIsParsedOrRefused) {
  std::string spec = spec_of(sample());
  for (std::size_t at = 0; at < spec.size(); ++at) {
    for (char byte : {'\0', '\n', ' ', '0', '9', '\xFF'}) {
      std::string spoiled = spec;
      spoiled[at] = byte;
      for (const SpecField& field : parse_spec(spoiled)) {
        EXPECT_LE(field.content.size(), spoiled.size());
      }
    }
    EXPECT_LT(parse_spec(std::string_view(spec).substr(0, at)).size(), 9U);
  }
}

}  // namespace
}  // namespace kiln::cache
