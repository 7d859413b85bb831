// What a service says through its log callback.
#include <gtest/gtest.h>

#include "service_fixture.hpp"

namespace kiln::test {
namespace {

TEST_F(ServiceTest, TheLogHoldsNothingThatATerminalWouldActUpon) {
  ServiceOptions options = this->options();
  options.cache_dir = folder_ / "no\x1b[31m\xff";
  write_file(*options.cache_dir, "not a directory");
  EXPECT_EQ(ask(Service(options), 1).outcome, Outcome::compiled);
  ASSERT_GE(messages_.count(), 1U);
  for (const std::string& message : messages_.all()) {
    EXPECT_EQ(message.find_first_of("\x1b\xff"), std::string::npos) << message;
  }
  EXPECT_GE(messages_.count_with(R"(no\x1b[31m\xff)"), 1U);
}

TEST_F(ServiceTest, WhatIsThrownIsNotLoggedAsWell) {
  ServiceOptions options = this->options();
  options.cache_dir = folder_ / "file";
  write_file(*options.cache_dir, "not a directory");
  Service service(options);
  EXPECT_THROW(service.query({}), StoreError);
  EXPECT_THROW(service.clear(), StoreError);
  EXPECT_THROW(service.show("abcd"), StoreError);
  EXPECT_EQ(messages_.all(), std::vector<std::string>{});
}

}  // namespace
}  // namespace kiln::test
