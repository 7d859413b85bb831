#include <gtest/gtest.h>

#include <string>

#include "kiln/error.hpp"
#include "kiln/permuter.hpp"

namespace kiln {
namespace {

TEST(StrategyName, IsWhatIsParsed) {
  EXPECT_EQ(strategy_name(PermuteStrategy::automatic), "automatic");
  EXPECT_EQ(strategy_name(PermuteStrategy::bucketed), "bucketed");
  EXPECT_EQ(parse_strategy("direct"), PermuteStrategy::direct);
  EXPECT_EQ(parse_strategy("staged"), PermuteStrategy::staged);
  EXPECT_EQ(parse_strategy("tiled"), PermuteStrategy::tiled);
  for (int number = 0; number < 7; ++number) {
    const auto strategy = static_cast<PermuteStrategy>(number);
    EXPECT_EQ(parse_strategy(strategy_name(strategy)), strategy);
  }
}

TEST(StrategyName, OfAnotherWordIsAnError) {
  for (const char* word : {"", "Direct", "fast", "direct ", "staged\n"}) {
    try {
      parse_strategy(word);
      ADD_FAILURE() << word;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      const std::string text = error.what();
      EXPECT_NE(text.find("it must be one of automatic, direct, staged, tiled, bucketed, rows, elements"),
                std::string::npos)
          << text;
    }
  }
  EXPECT_THROW(strategy_name(static_cast<PermuteStrategy>(99)), Error);
}

}  // namespace
}  // namespace kiln
