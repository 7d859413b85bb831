#include "kiln/service_options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "kiln/error.hpp"

namespace kiln {
namespace {

/// Starts from an environment without any of Kiln's variables; CTest runs each test in a process of its own.
class ServiceOptionsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"KILN_CACHE_DIR", "KILN_CACHE_MAX_SIZE", "KILN_CACHE_MODE", "KILN_PACKS", "KILN_STRICT",
                             "KILN_NVRTC", "KILN_RECORD", "XDG_CACHE_HOME", "HOME"}) {
      unsetenv(name);
    }
  }
  static void expect_refused(const char* name, const char* value) {
    setenv(name, value, 1);
    try {
      ServiceOptions::from_environment();
      FAIL() << name << "=" << value << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      std::string message = error.what();
      EXPECT_NE(message.find(name), std::string::npos) << message;
      EXPECT_NE(message.find(value), std::string::npos) << message;
    }
    unsetenv(name);
  }
};

TEST_F(ServiceOptionsTest, WithoutAnyHomeTheCacheIsMemoryOnly) {
  EXPECT_EQ(ServiceOptions::from_environment().cache_dir, std::nullopt);
}

TEST_F(ServiceOptionsTest, DirectoryIsTheFirstThatIsSet) {
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(ServiceOptions::from_environment().cache_dir, "/home/someone/.cache/kiln");
  setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
  EXPECT_EQ(ServiceOptions::from_environment().cache_dir, "/home/someone/.cache/kiln");
  setenv("XDG_CACHE_HOME", "/var/xdg", 1);
  EXPECT_EQ(ServiceOptions::from_environment().cache_dir, "/var/xdg/kiln");
  setenv("KILN_CACHE_DIR", "/srv/kiln", 1);
  EXPECT_EQ(ServiceOptions::from_environment().cache_dir, "/srv/kiln");
}

TEST_F(ServiceOptionsTest, ReadsEveryVariable) {
  setenv("KILN_CACHE_MAX_SIZE", "512M", 1);
  setenv("KILN_CACHE_MODE", "ro", 1);
  setenv("KILN_PACKS", "/a.kilnpack::/b.kilnpack:", 1);
  setenv("KILN_STRICT", "1", 1);
  setenv("KILN_NVRTC", "/opt/libnvrtc.so", 1);
  setenv("KILN_RECORD", "/tmp/plan.json", 1);
  ServiceOptions options = ServiceOptions::from_environment();
  EXPECT_EQ(options.max_bytes, 512U * 1024 * 1024);
  EXPECT_EQ(options.cache_mode, CacheMode::read_only);
  ASSERT_EQ(options.packs.size(), 2U);
  EXPECT_EQ(options.packs[0], "/a.kilnpack");
  EXPECT_EQ(options.packs[1], "/b.kilnpack");
  EXPECT_TRUE(options.strict);
  EXPECT_EQ(options.nvrtc, "/opt/libnvrtc.so");
  EXPECT_EQ(options.record, "/tmp/plan.json");
}

TEST_F(ServiceOptionsTest, RefusesWhatItCannotUseAndNamesIt) {
  expect_refused("KILN_CACHE_MAX_SIZE", "lots");
  expect_refused("KILN_CACHE_MAX_SIZE", "-1");
  expect_refused("KILN_CACHE_MAX_SIZE", "99999999999999T");
  expect_refused("KILN_CACHE_MODE", "sometimes");
  expect_refused("KILN_STRICT", "perhaps");
}

TEST(ParseSize, TakesBytesAndPowersOf1024) {
  EXPECT_EQ(parse_size("0"), 0U);
  EXPECT_EQ(parse_size("1073741824"), 1073741824U);
  EXPECT_EQ(parse_size("1K"), 1024U);
  EXPECT_EQ(parse_size("3MiB"), 3U * 1024 * 1024);
  EXPECT_EQ(parse_size("2GB"), 2ULL * 1024 * 1024 * 1024);
  EXPECT_EQ(parse_size("16777215T"), 16777215ULL << 40);
}

TEST(ParseSize, GivesNothingForTheRest) {
  for (const char* text : {"", "K", "-1", "1.5G", "1 G", "1Q", "1GG", "16777216T", "18446744073709551616"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace kiln
