#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "nvrtc/jit/nvrtc_test.hpp"

namespace kiln::jit {
namespace {

class Literals : public NvrtcTest {
 protected:
  /// Compiles a kernel that only holds `checks`, with `value` as the parameter `v`.
  void holds(const std::string& type, const Value& value, const std::string& checks) {
    SCOPED_TRACE(type + ": " + checks);
    std::string text = "// kiln: parameter v: " + type +
                       "\n// kiln: entry k\n#include \"kiln/values.h\"\n"
                       "template <typename, typename> struct Same { static constexpr bool value = false; };\n"
                       "template <typename T> struct Same<T, T> { static constexpr bool value = true; };\n" +
                       checks + "\n__global__ void k() {}\n";
    try {
      Artifact artifact = compile(Template::from_text("t.cu", text), {{"v", value}});
      EXPECT_EQ(artifact.log, "");
    } catch (const CompileError& error) {
      ADD_FAILURE() << error.log() << error.source();
    }
  }
  /// The type is exact, and the value is `expected` without any conversion that could hide a difference.
  void is(const std::string& type, const std::string& cpp, const Value& value, const std::string& expected) {
    holds(type, value,
          "static_assert(Same<decltype(kiln::v), const " + cpp + ">::value, \"type\");\n" +
              "static_assert(kiln::v == " + expected + ", \"value\");");
  }
  /// The bits that NVRTC writes into the PTX for the constant.
  std::uint64_t bits(const std::string& type, double value) {
    std::string cpp = type == "f32" ? "float" : "double";
    Artifact artifact =
        compile(Template::from_text("t.cu", "// kiln: parameter v: " + type +
                                                "\n// kiln: entry k\n#include \"kiln/values.h\"\n__device__ const " +
                                                cpp + " stored[2] = {kiln::v, 1};\n__global__ void k(" + cpp +
                                                "* p, int i) { *p = stored[i]; }\n"),
                {{"v", value}});
    // An array is written by its bytes: "stored[8] = {0, 0, 128, 63, …};" without the zeros at its end.
    std::size_t at = artifact.ptx.find("= {");
    EXPECT_NE(at, std::string::npos) << artifact.ptx;
    std::istringstream list(artifact.ptx.substr(at + 3, artifact.ptx.find('}', at) - at - 3));
    std::uint64_t found = 0;
    std::string word;
    for (unsigned i = 0; i < (type == "f32" ? 4u : 8u) && std::getline(list, word, ','); ++i) {
      found |= std::stoull(word) << (8 * i);
    }
    return found;
  }
};

TEST_P(Literals, IntegersAreExactInTypeAndValue) {
  is("bool", "bool", true, "true");
  is("char", "char", 'x', "'x'");
  is("char", "char", -128, "-128");
  is("i8", "signed char", -128, "-128");
  is("i16", "short", -32768, "-32768");
  is("i32", "int", -2147483648LL, "(int)0x80000000");
  is("i64", "long long", std::numeric_limits<std::int64_t>::min(), "(long long)0x8000000000000000ull");
  is("i64", "long long", std::numeric_limits<std::int64_t>::max(), "0x7fffffffffffffffll");
  is("u8", "unsigned char", 255, "255");
  is("u16", "unsigned short", 65535, "65535");
  is("u32", "unsigned int", 4294967295u, "0xffffffffu");
  is("u64", "unsigned long long", std::numeric_limits<std::uint64_t>::max(), "0xffffffffffffffffull");
}

TEST_P(Literals, ListsAreExactInTypeLengthAndValue) {
  holds("i64[]", std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), -1, 0},
        "static_assert(Same<decltype(kiln::v), const long long[3]>::value, \"\");\n"
        "static_assert(kiln::v_length == 3u && kiln::v[0] == (long long)0x8000000000000000ull && kiln::v[1] == -1, "
        "\"\");");
  holds("char[2]", std::vector<int>{65, -1}, "static_assert(kiln::v[0] == 'A' && kiln::v[1] == '\\xff', \"\");");
  holds("bool[]", std::vector<int>{1, 0}, "static_assert(kiln::v[0] && !kiln::v[1], \"\");");
}

TEST_P(Literals, TypesAndFloatsHaveTheirTypes) {
  holds("type", TypeName{"unsigned  short"}, "static_assert(Same<kiln::v, unsigned short>::value, \"\");");
  holds("f32", 0.1, "static_assert(Same<decltype(kiln::v), const float>::value && kiln::v == 0.1f, \"\");");
  holds("f64", 0.1, "static_assert(Same<decltype(kiln::v), const double>::value && kiln::v == 0.1, \"\");");
}

TEST_P(Literals, FloatsKeepEveryBit) {
  for (float value : {0.1f, -0.0f, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max(),
                      -std::numeric_limits<float>::min(), std::numeric_limits<float>::infinity(),
                      -std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(bits("f32", static_cast<double>(value)), std::bit_cast<std::uint32_t>(value)) << value;
  }
  for (double value : {0.1, -0.0, std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max(),
                       -std::numeric_limits<double>::min(), -std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(bits("f64", value), std::bit_cast<std::uint64_t>(value)) << value;
  }
}

TEST_P(Literals, NansKeepSignAndPayload) {
  if (!at_least(12, 0)) {
    EXPECT_THROW(bits("f64", std::bit_cast<double>(std::uint64_t{0x7FF8000012345678})), CompileError);
    GTEST_SKIP() << "NVRTC 11 has no __builtin_bit_cast";
  }
  for (std::uint64_t value : {0x7FF8000000000000u, 0xFFF8000012345678u}) {
    EXPECT_EQ(bits("f64", std::bit_cast<double>(value)), value) << std::hex << value;
  }
  // NVRTC makes a signalling one quiet when it writes it as data; the constant itself is exact.
  holds("f64", std::bit_cast<double>(std::uint64_t{0x7FF0000000000001}),
        "static_assert(__builtin_bit_cast(unsigned long long, kiln::v) == 0x7ff0000000000001ull, \"\");");
  // The double that narrows to 0x7fc12345.
  EXPECT_EQ(bits("f32", std::bit_cast<double>(std::uint64_t{0x7FF82468A0000000})), 0x7FC12345u);
}

TEST_P(Literals, TheDefaultNanIsOneEverywhere) {
  auto nan = std::bit_cast<double>(std::uint64_t{0x7FF8000000000000});
  holds("f32", nan, "static_assert(kiln::v != kiln::v, \"\");");
  std::uint64_t found = bits("f32", nan);
  EXPECT_EQ(found & 0x7F800000u, 0x7F800000u) << std::hex << found;
  EXPECT_NE(found & 0x7FFFFFu, 0u) << std::hex << found;
  if (at_least(12, 0)) {
    EXPECT_EQ(found, 0x7FC00000u);
  }
}

KILN_NVRTC_SUITE(Literals);

}  // namespace
}  // namespace kiln::jit
