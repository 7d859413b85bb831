#include "jit/literal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "kiln/quote.hpp"

namespace kiln::jit {
namespace {

Parameter of(ParameterType type) { return {"p", type, false, std::nullopt, std::nullopt, 1}; }
Parameter list_of(ParameterType type, std::optional<std::size_t> length = std::nullopt) {
  return {"p", type, true, length, std::nullopt, 1};
}

std::string literal(const Parameter& parameter, const Value& value) {
  std::string out;
  append_literal(out, parameter, value, "t.cu");
  return out;
}

/// The error's text, which must name the parameter.
std::string refusal(const Parameter& parameter, const Value& value) {
  try {
    std::string made = literal(parameter, value);
    ADD_FAILURE() << "taken as " << made;
    return {};
  } catch (const TemplateError& error) {
    EXPECT_EQ(error.parameter(), "p");
    EXPECT_EQ(error.template_name(), "t.cu");
    EXPECT_EQ(error.code(), ErrorCode::template_invalid);
    return error.what();
  }
}

constexpr auto k_i64_min = std::numeric_limits<std::int64_t>::min();
constexpr auto k_i64_max = std::numeric_limits<std::int64_t>::max();
constexpr auto k_u64_max = std::numeric_limits<std::uint64_t>::max();

TEST(Literal, WritesBools) {
  EXPECT_EQ(literal(of(ParameterType::boolean), true), "true");
  EXPECT_EQ(literal(of(ParameterType::boolean), false), "false");
  EXPECT_EQ(literal(of(ParameterType::boolean), 1), "true");
  EXPECT_EQ(literal(list_of(ParameterType::boolean), std::vector<int>{1, 0}), "{true, false}");
  EXPECT_NE(refusal(of(ParameterType::boolean), 2).find("is 2: bool holds 0 to 1"), std::string::npos);
}

TEST(Literal, WritesCharsPlainWherePrintable) {
  EXPECT_EQ(literal(of(ParameterType::character), 'a'), "'a'");
  EXPECT_EQ(literal(of(ParameterType::character), ' '), "' '");
  EXPECT_EQ(literal(of(ParameterType::character), '\''), "'\\''");
  EXPECT_EQ(literal(of(ParameterType::character), '\\'), "'\\\\'");
  EXPECT_EQ(literal(of(ParameterType::character), '\n'), "char(10)");
  EXPECT_EQ(literal(of(ParameterType::character), -128), "char(-128)");
  EXPECT_EQ(literal(of(ParameterType::character), 127), "char(127)");
}

TEST(Literal, WritesTheEndsOfEveryIntegerType) {
  struct Case {
    ParameterType type;
    Value lowest;
    Value highest;
    const char* low_text;
    const char* high_text;
  };
  const Case cases[] = {
      {ParameterType::i8, -128, 127, "-128", "127"},
      {ParameterType::i16, -32768, 32767, "-32768", "32767"},
      {ParameterType::i32, -2147483648LL, 2147483647, "(-2147483647 - 1)", "2147483647"},
      {ParameterType::i64, k_i64_min, k_i64_max, "(-9223372036854775807ll - 1)", "9223372036854775807ll"},
      {ParameterType::u8, 0, 255, "0", "255"},
      {ParameterType::u16, 0u, 65535u, "0", "65535"},
      {ParameterType::u32, 0, 4294967295u, "0u", "4294967295u"},
      {ParameterType::u64, 0, k_u64_max, "0ull", "18446744073709551615ull"},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(declared_name(test.type));
    EXPECT_EQ(literal(of(test.type), test.lowest), test.low_text);
    EXPECT_EQ(literal(of(test.type), test.highest), test.high_text);
  }
}

TEST(Literal, RefusesWhatIsBeyondEveryIntegerType) {
  struct Case {
    ParameterType type;
    Value below;
    Value above;
    const char* range;
  };
  const Case cases[] = {
      {ParameterType::character, -129, 128, "char holds -128 to 127"},
      {ParameterType::i8, -129, 128, "i8 holds -128 to 127"},
      {ParameterType::i16, -32769, 32768, "i16 holds -32768 to 32767"},
      {ParameterType::i32, -2147483649LL, 2147483648LL, "i32 holds -2147483648 to 2147483647"},
      {ParameterType::u8, -1, 256, "u8 holds 0 to 255"},
      {ParameterType::u16, -1, 65536, "u16 holds 0 to 65535"},
      {ParameterType::u32, -1, 4294967296LL, "u32 holds 0 to 4294967295"},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.range);
    EXPECT_NE(refusal(of(test.type), test.below).find(test.range), std::string::npos);
    EXPECT_NE(refusal(of(test.type), test.above).find(test.range), std::string::npos);
  }
  EXPECT_NE(refusal(of(ParameterType::i64), k_u64_max).find("is 18446744073709551615: i64 holds"), std::string::npos);
  EXPECT_NE(refusal(of(ParameterType::u64), k_i64_min).find("is -9223372036854775808: u64 holds 0 to"),
            std::string::npos);
}

TEST(Literal, WritesFloatsAsHexFloats) {
  EXPECT_EQ(literal(of(ParameterType::f32), 1.0f), "0x1p+0f");
  EXPECT_EQ(literal(of(ParameterType::f32), 0.1), "0x1.99999ap-4f");
  EXPECT_EQ(literal(of(ParameterType::f32), -0.0), "-0x0p+0f");
  EXPECT_EQ(literal(of(ParameterType::f32), std::numeric_limits<float>::max()), "0x1.fffffep+127f");
  EXPECT_EQ(literal(of(ParameterType::f64), 0.1), "0x1.999999999999ap-4");
  EXPECT_EQ(literal(of(ParameterType::f64), -0.0), "-0x0p+0");
  EXPECT_EQ(literal(of(ParameterType::f64), -1.5e300), "-0x1.1eb2d66005835p+997");
}

TEST(Literal, FloatsReadBackExactly) {
  for (float value : {std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::min(), 3.14159274f,
                      -std::numeric_limits<float>::max(), 16777217.0f}) {
    EXPECT_EQ(std::strtof(literal(of(ParameterType::f32), value).c_str(), nullptr), value);
  }
  for (double value : {std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::min(), 0.1, -1e308}) {
    EXPECT_EQ(std::strtod(literal(of(ParameterType::f64), value).c_str(), nullptr), value);
  }
}

TEST(Literal, RoundsToTheNearestFloat) {
  EXPECT_EQ(literal(of(ParameterType::f32), 1.0 + 1e-9), "0x1p+0f");
  EXPECT_EQ(literal(of(ParameterType::f32), 3.4028235e38), "0x1.fffffep+127f");
  // Once, not first to a double: 2^61 + 2^37 + 1 lies just above the middle of two floats.
  EXPECT_EQ(literal(of(ParameterType::f32), (std::int64_t{1} << 61) + (std::int64_t{1} << 37) + 1), "0x1.000002p+61f");
}

TEST(Literal, RefusesFinitesBeyondFloat) {
  EXPECT_NE(refusal(of(ParameterType::f32), 3.5e38).find("is 3.5e+38: f32 holds"), std::string::npos);
  EXPECT_NE(refusal(of(ParameterType::f32), -1e300).find("is -1e+300"), std::string::npos);
}

TEST(Literal, RefusesWhatFloatWouldRoundToZero) {
  EXPECT_THAT(refusal(of(ParameterType::f32), 1e-50), testing::HasSubstr("is 1e-50, which f32 would round to 0"));
  EXPECT_THAT(refusal(of(ParameterType::f32), -7e-46), testing::HasSubstr("is -7e-46, which f32"));
  EXPECT_THAT(refusal(of(ParameterType::f32), std::numeric_limits<double>::denorm_min()), testing::HasSubstr("to 0"));
  EXPECT_EQ(literal(of(ParameterType::f32), 0.0), "0x0p+0f");
  EXPECT_EQ(literal(of(ParameterType::f32), -0.0), "-0x0p+0f");
  EXPECT_EQ(std::strtof(literal(of(ParameterType::f32), 8e-46).c_str(), nullptr), 1e-45F);
}

TEST(Literal, WritesNonFinitesByTheirBits) {
  constexpr double k_inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(literal(of(ParameterType::f32), k_inf), "__builtin_bit_cast(float, 0x7f800000u)");
  EXPECT_EQ(literal(of(ParameterType::f32), -k_inf), "__builtin_bit_cast(float, 0xff800000u)");
  EXPECT_EQ(literal(of(ParameterType::f64), -k_inf), "__builtin_bit_cast(double, 0xfff0000000000000ull)");
  auto payload = std::bit_cast<double>(std::uint64_t{0xFFF8000012345678});
  EXPECT_EQ(literal(of(ParameterType::f64), payload), "__builtin_bit_cast(double, 0xfff8000012345678ull)");
  auto signalling = std::bit_cast<double>(std::uint64_t{0x7FF0000000000001});
  EXPECT_EQ(literal(of(ParameterType::f64), signalling), "__builtin_bit_cast(double, 0x7ff0000000000001ull)");
}

TEST(Literal, NansKeepSignAndUpperPayloadAsFloats) {
  auto narrow = [](std::uint64_t bits) { return literal(of(ParameterType::f32), std::bit_cast<double>(bits)); };
  EXPECT_EQ(narrow(0x7FF8000000000000), "__builtin_bit_cast(float, 0x7fc00000u)");
  EXPECT_EQ(narrow(0xFFF8000000000000), "__builtin_bit_cast(float, 0xffc00000u)");
  EXPECT_EQ(narrow(0x7FF82468A0000000), "__builtin_bit_cast(float, 0x7fc12345u)");
  EXPECT_EQ(narrow(0x7FF02468A0000000), "__builtin_bit_cast(float, 0x7f812345u)");  // stays signalling
  EXPECT_EQ(narrow(0x7FF0000000000001), "__builtin_bit_cast(float, 0x7fc00000u)");  // would be an infinity
}

TEST(Literal, SaysNonFinitesWithoutBitCast) {
  auto old = [](ParameterType type, double value) {
    std::string out;
    append_literal_without_bit_cast(out, of(type), value, "t.cu");
    return out;
  };
  EXPECT_EQ(old(ParameterType::f32, HUGE_VAL), "(1.0f / 0.0f)");
  EXPECT_EQ(old(ParameterType::f64, -HUGE_VAL), "(-1.0 / 0.0)");
  EXPECT_EQ(old(ParameterType::f64, std::bit_cast<double>(std::uint64_t{0x7FF8000000000000})), "(0.0 / 0.0)");
  EXPECT_EQ(old(ParameterType::f64, std::bit_cast<double>(std::uint64_t{0x7FF8000000000001})),
            "a_nan_with_a_payload_needs_nvrtc_12");
}

TEST(Literal, KnowsWhichValuesNeedBits) {
  EXPECT_TRUE(has_non_finite(of(ParameterType::f32), HUGE_VAL));
  EXPECT_TRUE(has_non_finite(list_of(ParameterType::f64), std::vector<double>{1.0, std::nan("")}));
  EXPECT_FALSE(has_non_finite(list_of(ParameterType::f64), std::vector<double>{1.0, 2.0}));
  EXPECT_FALSE(has_non_finite(of(ParameterType::f32), 3));
  EXPECT_FALSE(has_non_finite(of(ParameterType::i32), 3));
}

TEST(Literal, TakesIntegersForRealsButNotTheOtherWayRound) {
  EXPECT_EQ(literal(of(ParameterType::f32), 3), "0x1.8p+1f");
  EXPECT_EQ(literal(of(ParameterType::f64), k_u64_max), "0x1p+64");
  EXPECT_NE(refusal(of(ParameterType::i32), 3.0).find("is declared i32 and was given the real 3"), std::string::npos);
  EXPECT_NE(refusal(list_of(ParameterType::u8), std::vector<double>{1.5}).find("the real 1.5"), std::string::npos);
}

TEST(Literal, WritesLists) {
  EXPECT_EQ(literal(list_of(ParameterType::u16), std::vector<int>{5, 1, 65535}), "{5, 1, 65535}");
  EXPECT_EQ(literal(list_of(ParameterType::u64, 2), std::vector<std::uint64_t>{0, k_u64_max}),
            "{0ull, 18446744073709551615ull}");
  EXPECT_EQ(literal(list_of(ParameterType::f32), std::vector<float>{0.5f, -0.0f}), "{0x1p-1f, -0x0p+0f}");
  EXPECT_EQ(literal(list_of(ParameterType::f64), std::vector<int>{2}), "{0x1p+1}");
}

TEST(Literal, WritesLongListsWithTheLowestAnywhere) {
  std::vector<std::int64_t> values;
  std::string expected = "{";
  for (int i = 0; i < 5000; ++i) {
    bool is_lowest = i % 7 == 0;
    values.push_back(is_lowest ? k_i64_min : -i);
    expected +=
        std::string(i == 0 ? "" : ", ") + (is_lowest ? "(-9223372036854775807ll - 1)" : std::to_string(-i) + "ll");
  }
  EXPECT_EQ(literal(list_of(ParameterType::i64), values), expected + "}");
}

TEST(Literal, RefusesListsThatDoNotFit) {
  EXPECT_NE(refusal(list_of(ParameterType::u16, 3), std::vector<int>{1, 2}).find("takes a list of 3 and was given 2"),
            std::string::npos);
  EXPECT_NE(refusal(list_of(ParameterType::u16), std::vector<int>{}).find("at least 1"), std::string::npos);
  EXPECT_NE(refusal(list_of(ParameterType::u16), 7).find("is declared u16[] and was given the integer 7"),
            std::string::npos);
  EXPECT_NE(refusal(of(ParameterType::u16), std::vector<int>{1}).find("a list of 1"), std::string::npos);
  EXPECT_NE(refusal(list_of(ParameterType::u8), std::vector<int>{0, 256}).find("is 256: u8 holds"), std::string::npos);
}

TEST(Literal, RefusesValuesOfAnotherKind) {
  EXPECT_NE(refusal(of(ParameterType::i32), true).find("the bool true"), std::string::npos);
  EXPECT_NE(refusal(of(ParameterType::i32), TypeName{"float"}).find("the type 'float'"), std::string::npos);
  EXPECT_NE(refusal(of(ParameterType::type), 3).find("is declared type and was given the integer 3"),
            std::string::npos);
  EXPECT_NE(refusal(of(ParameterType::type), Code{"float"}).find("a piece of code"), std::string::npos);
  EXPECT_NE(refusal(of(ParameterType::code), TypeName{"float"}).find("is declared code"), std::string::npos);
  EXPECT_NE(refusal(of(ParameterType::code), Code{std::string("a\0b", 3)}).find("NUL"), std::string::npos);
}

TEST(Literal, WritesTypesWithOneBlank) {
  EXPECT_EQ(literal(of(ParameterType::type), TypeName{"  unsigned \t int "}), "unsigned int");
  for (const char* name : {"float", "uint4", "my::vec<int, 4>", "::ns::t", "int*", "const char* const", "float[4]",
                           "a<b<c>>", "void(*)(int)", "pair<int, -1>"}) {
    EXPECT_EQ(literal(of(ParameterType::type), TypeName{name}), name);
  }
}

TEST(Literal, RefusesTypesThatAreNone) {
  struct Case {
    const char* text;
    const char* problem;
  };
  const Case cases[] = {{"", "it is empty"},
                        {"  ", "it is empty"},
                        {"float;", "';' cannot be part"},
                        {"float // x", "'/' cannot be part"},
                        {"float /* x */", "'/' cannot be part"},
                        {"float\nint", "cannot be part"},
                        {"a<b", "'<' is not closed"},
                        {"a>b", "'>' closes nothing"},
                        {"a<(b>)", "'>' closes nothing"},
                        {"4", "starts with a letter"},
                        {"{int}", "'{' cannot be part"},
                        {"float\"", "cannot be part"},
                        {"#x", "'#' cannot be part"}};
  for (const Case& test : cases) {
    SCOPED_TRACE(test.text);
    std::string text = refusal(of(ParameterType::type), TypeName{test.text});
    EXPECT_NE(text.find(test.problem), std::string::npos) << text;
    EXPECT_NE(text.find(quote(test.text)), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace kiln::jit
