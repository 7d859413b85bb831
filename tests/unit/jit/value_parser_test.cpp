#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "jit/literal.hpp"
#include "kiln/error.hpp"

namespace kiln::jit {
namespace {

Parameter of(ParameterType type, bool is_list = false) { return {"p", type, is_list, std::nullopt, std::nullopt, 1}; }

Value parsed(ParameterType type, std::string_view text) { return parse_value(of(type), text, "t.cu"); }

TEST(ParseValue, ReadsIntegers) {
  EXPECT_EQ(parsed(ParameterType::i32, "-5"), Value(-5));
  EXPECT_EQ(parsed(ParameterType::u32, " 36 "), Value(36u));
  EXPECT_EQ(parsed(ParameterType::u32, "0xff"), Value(255u));
  EXPECT_EQ(parsed(ParameterType::i32, "+7"), Value(7u));
  EXPECT_EQ(parsed(ParameterType::u64, "18446744073709551615"), Value(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ(parsed(ParameterType::i64, "-9223372036854775808"), Value(std::numeric_limits<std::int64_t>::min()));
}

TEST(ParseValue, ReadsRealsWhateverTheLocale) {
  EXPECT_EQ(parsed(ParameterType::f64, "0.1"), Value(0.1));
  EXPECT_EQ(parsed(ParameterType::f32, "-1e-3"), Value(-1e-3));
  EXPECT_EQ(parsed(ParameterType::f64, "0x1.8p1"), Value(3.0));
  for (const char* zero : {"0", "0.0", "0e5", "0.000E-9", "0x0p-1", "0x0.0", ".0"}) {
    EXPECT_EQ(parsed(ParameterType::f64, zero), Value(0.0)) << zero;
  }
  EXPECT_EQ(parsed(ParameterType::f64, "-inf"), Value(-HUGE_VAL));
  EXPECT_TRUE(std::isnan(std::get<double>(parsed(ParameterType::f32, "nan").storage())));
}

TEST(ParseValue, ReadsTheOtherScalars) {
  EXPECT_EQ(parsed(ParameterType::boolean, "true"), Value(true));
  EXPECT_EQ(parsed(ParameterType::boolean, "0"), Value(false));
  EXPECT_EQ(parsed(ParameterType::character, "'x'"), Value('x'));
  EXPECT_EQ(parsed(ParameterType::character, "10"), Value(10u));
  EXPECT_EQ(parsed(ParameterType::type, " float "), Value(TypeName{"float"}));
  EXPECT_EQ(parsed(ParameterType::code, " a; // b"), Value(Code{" a; // b"}));
}

TEST(ParseValue, ReadsListsWithAndWithoutBraces) {
  EXPECT_EQ(parse_value(of(ParameterType::u16, true), "{1, 2,3}", "t.cu"), Value(std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(parse_value(of(ParameterType::u16, true), "1,2", "t.cu"), Value(std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(parse_value(of(ParameterType::f32, true), "0.5, 2", "t.cu"), Value(std::vector<double>{0.5, 2.0}));
  EXPECT_EQ(parse_value(of(ParameterType::u64, true), "18446744073709551615", "t.cu"),
            Value(std::vector<std::uint64_t>{std::numeric_limits<std::uint64_t>::max()}));
}

TEST(ParseValue, RefusesWhatIsNoValueAndNamesIt) {
  const std::pair<ParameterType, const char*> cases[] = {{ParameterType::i32, "x"},
                                                         {ParameterType::i32, ""},
                                                         {ParameterType::i32, "1.5"},
                                                         {ParameterType::i32, "1 2"},
                                                         {ParameterType::u64, "-18446744073709551615"},
                                                         {ParameterType::f32, "1,5"},
                                                         {ParameterType::f64, "1e999"},
                                                         {ParameterType::f64, "1e-400"},
                                                         {ParameterType::f32, "-0.01e-400"},
                                                         {ParameterType::f64, "0x1p-2000"},
                                                         {ParameterType::f64, "x"},
                                                         {ParameterType::boolean, "yes"},
                                                         {ParameterType::character, "'ab'"}};
  for (const auto& [type, text] : cases) {
    SCOPED_TRACE(text);
    try {
      parsed(type, text);
      ADD_FAILURE() << "taken";
    } catch (const TemplateError& error) {
      std::string message = error.what();
      EXPECT_NE(message.find("'" + std::string(text) + "' is not "), std::string::npos) << message;
      EXPECT_EQ(error.parameter(), "p");
    }
  }
  EXPECT_THROW(parse_value(of(ParameterType::u16, true), "1,,2", "t.cu"), TemplateError);
  EXPECT_THROW(parse_value(of(ParameterType::u16, true), "1,2,", "t.cu"), TemplateError);
}

TEST(ParseValue, LeavesItToTheCallerWhoseValueItIs) {
  try {
    parse_value(of(ParameterType::u16, true), "1,x");
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_STREQ(error.what(), "'x' is not a whole number from 0 to 65535");
  }
  try {
    parse_value(of(ParameterType::u16, true), "1,x", "t.cu");
    ADD_FAILURE() << "taken";
  } catch (const TemplateError& error) {
    EXPECT_STREQ(error.what(),
                 "template t.cu: parameter 'p' is declared u16[]: 'x' is not a whole number from 0 to 65535");
  }
}

}  // namespace
}  // namespace kiln::jit
