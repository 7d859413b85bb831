// Parts of the program that are functions of values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/excerpt.hpp"
#include "cli/exit_code.hpp"
#include "cli/human.hpp"
#include "cli/permute_check.hpp"

namespace kiln::cli {
namespace {

using testing::HasSubstr;

class Check : public testing::Test {
 protected:
  /// The right result, computed apart from the check: 16-bit elements, two rows, inner 1.
  std::vector<std::byte> right() const {
    std::vector<std::byte> y(check_.make_y().size());
    const std::vector<std::byte>& x = check_.x();
    const std::size_t sources[] = {2, 0, 2, 1, 5, 3, 5, 4};  // rows of three sources, four positions
    for (std::size_t j = 0; j < 8; ++j) {
      y[2 * j] = x[2 * sources[j]];
      y[2 * j + 1] = x[2 * sources[j] + 1];
    }
    return y;
  }
  static std::string complaint(const PermuteCheck& check, const std::vector<std::byte>& y) {
    try {
      check.verify(y);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  IndexMap map_ = IndexMap::parse("2,0,2,1", "map");
  PermuteCheck check_{map_, PermuteShape{.element_bytes = 2}, 2};
};

TEST_F(Check, TakesTheRightResult) { EXPECT_EQ(complaint(check_, right()), ""); }

TEST_F(Check, FindsEveryWrongByteAndNamesItsElement) {
  for (std::size_t byte = 0; byte < check_.y_bytes(); ++byte) {
    std::vector<std::byte> y = right();
    y[byte] ^= std::byte{1};
    EXPECT_THAT(complaint(check_, y),
                HasSubstr("number " + std::to_string(byte / 2 % 4) + " of row " + std::to_string(byte / 8)));
  }
}

TEST_F(Check, FindsWhatIsWrittenBehindTheLastElement) {
  std::vector<std::byte> y = right();
  y[check_.y_bytes()] = std::byte{7};
  EXPECT_THAT(complaint(check_, y), HasSubstr("behind"));
}

TEST_F(Check, OfAnUntouchedResultFailsAtOnce) {
  EXPECT_THAT(complaint(check_, check_.make_y()), HasSubstr("number 0 of row 0"));
}

TEST_F(Check, RefusesMoreRowsThanFitInMemory) {
  EXPECT_THROW(PermuteCheck(map_, PermuteShape{}, std::uint64_t{1} << 40), UsageError);
}

TEST(PitchedCheck, FindsWhatIsWrittenBetweenRows) {
  const PermuteCheck check(IndexMap::parse("2,0,1", "map"),
                           PermuteShape{.element_bytes = 2, .row_stride_in = 5, .row_stride_out = 4}, 3);
  EXPECT_EQ(check.x().size(), 26U);
  ASSERT_EQ(check.y_bytes(), 22U);
  std::vector<std::byte> y = check.make_y();
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t source = std::vector<std::size_t>{2, 0, 1}[j];
      std::copy_n(check.x().begin() + static_cast<std::ptrdiff_t>(row * 10 + source * 2), 2,
                  y.begin() + static_cast<std::ptrdiff_t>(row * 8 + j * 2));
    }
  }
  EXPECT_NO_THROW(check.verify(y));
  for (const auto& [byte, says] : {std::pair<std::size_t, const char*>{7, "behind row 0"},
                                   {14, "behind row 1"},
                                   {8, "number 0 of row 1"},
                                   {21, "number 2 of row 2"}}) {
    std::vector<std::byte> wrong = y;
    wrong[byte] ^= std::byte{1};
    try {
      check.verify(wrong);
      ADD_FAILURE() << byte;
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr(says));
    }
  }
}

TEST(InPlaceCheck, StartsWithTheInput) {
  const PermuteCheck check(IndexMap::parse("1,0", "map"), PermuteShape{.element_bytes = 1, .in_place = true}, 2);
  EXPECT_TRUE(check.in_place());
  std::vector<std::byte> y = check.make_y();
  EXPECT_TRUE(std::equal(check.x().begin(), check.x().end(), y.begin()));
  EXPECT_THROW(check.verify(y), std::runtime_error);
  std::swap(y[0], y[1]);
  std::swap(y[2], y[3]);
  EXPECT_NO_THROW(check.verify(y));
}

TEST(DefaultRows, AreFewerForLargeMaps) {
  EXPECT_EQ(PermuteCheck::default_rows(IndexMap::parse("1,0", "map"), {}), 1024);
  EXPECT_EQ(PermuteCheck::default_rows(IndexMap::parse("1,0", "map", 1 << 18), {}), 4);
  EXPECT_EQ(PermuteCheck::default_rows(IndexMap::parse("1,0", "map"), {.inner = std::uint64_t{1} << 50}), 1);
  EXPECT_EQ(PermuteCheck::default_rows(IndexMap::parse("1,0", "map"), {.row_stride_out = 1 << 17}), 8);
}

TEST(Excerpt, ShowsTheLinesErrorsPointAtWithTwoAround) {
  std::string source = "---- kiln/values.h\n    1 | int n;\n---- a.cu\n";
  for (int line = 1; line <= 20; ++line) {
    source += (line < 10 ? "    " : "   ") + std::to_string(line) + " | line\n";
  }
  std::string log =
      "a.cu(4): error: one\na.cu(12): warning: none of these\na.cu(20): error: two\n\"b.h\"(1): error: no\n";
  EXPECT_EQ(excerpt(log, source),
            "---- a.cu\n    2 | line\n    3 | line\n    4 | line\n    5 | line\n    6 | line\n    …\n"
            "   18 | line\n   19 | line\n   20 | line\n");
  EXPECT_EQ(excerpt("a.cu(1): catastrophic error: #error directive: stop\n", source),
            "---- a.cu\n    1 | line\n    2 | line\n    3 | line\n");
  EXPECT_EQ(excerpt("nothing to see", source), "");
  for (const char* number : {"2147483647", "4294967295", "99999999999", "99999999999999999999", "-1", "", "x"}) {
    EXPECT_EQ(excerpt("a.cu(" + std::string(number) + "): error: far away", source), "") << number;
  }
}

TEST(Sizes, AreWrittenForPeopleAndRead) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes((1U << 20) - 1), "1.0 MiB");
  EXPECT_EQ(human_bytes(std::uint64_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(parse_bytes("512"), 512);
  EXPECT_EQ(parse_bytes("512M"), 536870912);
  EXPECT_EQ(parse_bytes("2GiB"), 2147483648);
  for (const char* wrong : {"", "M", "-1", "1.5G", "512X", "99999999999T"}) {
    EXPECT_THROW(parse_bytes(wrong), UsageError) << wrong;
  }
}

TEST(Times, AreWrittenForPeopleAndRead) {
  EXPECT_EQ(human_ms(0.44), "0.4 ms");
  EXPECT_EQ(human_ms(1700.0), "1.7 s");
  EXPECT_EQ(human_date(0), "1970-01-01");
  EXPECT_EQ(human_date(951782400), "2000-02-29");
  EXPECT_EQ(parse_duration("90s"), 90);
  EXPECT_EQ(parse_duration("30d"), 2592000);
  for (const char* wrong : {"", "30", "d", "1y", "-1d"}) {
    EXPECT_THROW(parse_duration(wrong), UsageError) << wrong;
  }
}

TEST(ExitCodes, TellWhatIsMissingFromWhatFailed) {
  EXPECT_EQ(exit_code_of(ErrorCode::nvrtc_unavailable), 3);
  EXPECT_EQ(exit_code_of(ErrorCode::driver_unavailable), 3);
  EXPECT_EQ(exit_code_of(ErrorCode::no_device), 3);
  EXPECT_EQ(exit_code_of(ErrorCode::host_compiler), 3);
  EXPECT_EQ(exit_code_of(ErrorCode::compile_failed), 1);
  EXPECT_EQ(exit_code_of(ErrorCode::strict_miss), 1);
}

}  // namespace
}  // namespace kiln::cli
