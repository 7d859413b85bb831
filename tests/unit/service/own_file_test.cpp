#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/own_file.hpp"

namespace kiln {
namespace {

std::vector<std::string> paths_of(const ServiceOptions& options) {
  std::vector<std::string> paths;
  for (const OwnFile& own : own_files(options)) {
    EXPECT_NE(own.what, "");
    paths.push_back(own.path.string());
  }
  return paths;
}

TEST(OwnFiles, AreThoseOfTheCacheWhateverItsMode) {
  ServiceOptions options;
  options.cache_dir = "/cache";
  for (const CacheMode mode : {CacheMode::read_write, CacheMode::read_only, CacheMode::off}) {
    options.cache_mode = mode;
    EXPECT_THAT(paths_of(options), testing::UnorderedElementsAre("/cache/kiln.db", "/cache/kiln.db.corrupt-1",
                                                                 "/cache/kiln.db.corrupt-2", "/cache/kiln.stats"));
  }
}

TEST(OwnFiles, AreThoseThatTheOptionsName) {
  ServiceOptions options;
  options.packs = {"/a.kilnpack", "b.kilnpack"};
  options.record = "/plan.json";
  options.nvrtc = "/libnvrtc.so";
  EXPECT_THAT(paths_of(options),
              testing::UnorderedElementsAre("/a.kilnpack", "b.kilnpack", "/plan.json", "/libnvrtc.so"));
}

TEST(OwnFiles, AreNoneWithoutACache) { EXPECT_TRUE(own_files({}).empty()); }

}  // namespace
}  // namespace kiln
