#include "jit/declarations.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kiln/error.hpp"

namespace kiln::jit {
namespace {

TEST(Declarations, ReadsEveryForm) {
  Declarations read = read_declarations("t.cu",
                                        "// A remark.\n"
                                        "// kiln: parameter n: u32\n"
                                        "  //kiln:parameter table:u16[36]\r\n"
                                        "// kiln: parameter any : f32 [ ] = {0.5, -1}\n"
                                        "// kiln: parameter element: type = unsigned int\n"
                                        "// kiln: parameter ending: code = value * 2; // twice\n"
                                        "// kiln: entry scale<kiln::element, 4>, ns::other\n"
                                        "// kiln: entry third\n"
                                        "int x; // kiln: parameter ignored: u32\n");
  ASSERT_EQ(read.parameters.size(), 5u);
  EXPECT_EQ(read.parameters[0].name, "n");
  EXPECT_EQ(read.parameters[0].type, ParameterType::u32);
  EXPECT_EQ(read.parameters[0].line, 2);
  EXPECT_FALSE(read.parameters[0].is_list);
  EXPECT_FALSE(read.parameters[0].fallback);
  EXPECT_TRUE(read.parameters[1].is_list);
  EXPECT_EQ(read.parameters[1].length, 36u);
  EXPECT_TRUE(read.parameters[2].is_list);
  EXPECT_FALSE(read.parameters[2].length);
  EXPECT_EQ(read.parameters[2].fallback, "{0.5, -1}");
  EXPECT_EQ(read.parameters[3].fallback, "unsigned int");
  EXPECT_EQ(read.parameters[4].fallback, "value * 2; // twice");
  EXPECT_EQ(read.entries, (std::vector<std::string>{"scale<kiln::element, 4>", "ns::other", "third"}));
}

TEST(Declarations, KnowsEveryType) {
  const char* types[] = {"bool", "char", "i8",  "i16", "i32", "i64",  "u8",
                         "u16",  "u32",  "u64", "f32", "f64", "type", "code"};
  for (int i = 0; i < 14; ++i) {
    Declarations read = read_declarations("t.cu", std::string("// kiln: parameter p: ") + types[i]);
    ASSERT_EQ(read.parameters.size(), 1u);
    EXPECT_EQ(read.parameters[0].type, static_cast<ParameterType>(i)) << types[i];
  }
}

struct Bad {
  const char* text;
  const char* problem;
};

class BadDeclaration : public testing::TestWithParam<Bad> {};

TEST_P(BadDeclaration, IsRefusedWithLineAndRemedy) {
  try {
    read_declarations("t.cu", "\n// kiln: parameter first: i8[]\n" + std::string(GetParam().text) + "\n");
    ADD_FAILURE() << "taken: " << GetParam().text;
  } catch (const TemplateError& error) {
    std::string message = error.what();
    EXPECT_NE(message.find("line 3: "), std::string::npos) << message;
    EXPECT_NE(message.find(GetParam().problem), std::string::npos) << message;
    EXPECT_EQ(error.template_name(), "t.cu");
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadDeclaration,
    testing::Values(Bad{"// kiln: param n: u32", "'param' is neither 'parameter' nor 'entry'"},
                    Bad{"// kiln:", "'' is neither 'parameter' nor 'entry'"},
                    Bad{"// kiln: parameter", "name is missing"}, Bad{"// kiln: parameter 9n: u32", "name is missing"},
                    Bad{"// kiln: parameter n", "':' and a type are missing after 'n'"},
                    Bad{"// kiln: parameter n u32", "':' and a type are missing after 'n'"},
                    Bad{"// kiln: parameter n: int", "'int' is no type for a parameter (bool char"},
                    Bad{"// kiln: parameter n:", "'' is no type for a parameter"},
                    Bad{"// kiln: parameter n: u32[", "']' is missing"},
                    Bad{"// kiln: parameter n: u32[0]", "number of at least 1, not '0'"},
                    Bad{"// kiln: parameter n: u32[x]", "number of at least 1, not 'x'"},
                    Bad{"// kiln: parameter n: u32[99999999999999999999]", "number of at least 1"},
                    Bad{"// kiln: parameter n: type[3]", "there are no lists of type"},
                    Bad{"// kiln: parameter n: code[]", "there are no lists of code"},
                    Bad{"// kiln: parameter n: u32 rows", "'rows' follows the declaration"},
                    Bad{"// kiln: parameter first: u32", "'first' was declared in line 2 already"},
                    Bad{"// kiln: parameter first_length: u32", "what the length of the list 'first' is called"},
                    Bad{"// kiln: parameter class: u32", "'class' is a word of C++"},
                    Bad{"// kiln: parameter linux: u32", "'linux' may be a macro"},
                    Bad{"// kiln: parameter __n: type", "'__n' is reserved for compilers"},
                    Bad{"// kiln: parameter NULL: code", "'NULL' may be a macro"},
                    Bad{"// kiln: parameter n: u8 = 256", "the default: parameter 'n' is 256: u8 holds"},
                    Bad{"// kiln: parameter n: u8 = x",
                        "the default: parameter 'n' is declared u8: 'x' is not a whole number from 0 to 255"},
                    Bad{"// kiln: parameter n: u8 =", "'' is not a whole number"},
                    Bad{"// kiln: parameter n: u8[2] = {1}", "takes a list of 2 and was given 1"},
                    Bad{"// kiln: parameter n: type = a<b", "'<' is not closed"},
                    Bad{"// kiln: entry", "kernel's name is missing"},
                    Bad{"// kiln: entry a,,b", "kernel's name is missing"},
                    Bad{"// kiln: entry a<b", "brackets do not match"},
                    Bad{"// kiln: entry a, a", "entry 'a' is declared twice"}));

}  // namespace
}  // namespace kiln::jit
