#pragma once

#include <gtest/gtest.h>

#include "cache/layered_store.hpp"
#include "cache/sqlite.hpp"
#include "cache_fixture.hpp"

namespace kiln::cache {

using namespace testing;

/// A user cache in a folder of its own, whose database things happen to.
class RecoveryTest : public ::testing::Test {
 protected:
  ServiceOptions options() {
    ServiceOptions options;
    options.cache_dir = folder_.path() / "cache";
    options.busy_wait = std::chrono::milliseconds(50);
    options.log = messages_.callback();
    return options;
  }
  std::filesystem::path database() const { return folder_.path() / "cache" / "kiln.db"; }
  std::filesystem::path beside(const char* suffix) const { return database().string() + suffix; }
  void make(int rows) {
    LayeredStore store(options());
    for (int i = 0; i < rows; ++i) {
      ASSERT_TRUE(store.put(sample_artifact(i)));
    }
  }
  void execute(const char* sql) {
    Database::open(database(), Database::Access::build, std::chrono::milliseconds(0)).execute(sql);
  }
  /// Puts the file back as it was, and nothing beside it.
  void restore(const std::string& content) {
    for (const auto& file : std::filesystem::directory_iterator(database().parent_path())) {
      std::filesystem::remove(file);
    }
    write_file(database(), content);
  }
  /// A request is served whatever the database is, and the cache works again afterwards.
  void expect_usable(int number) {
    Artifact artifact = sample_artifact(number);
    LayeredStore store(options());
    std::optional<Hit> hit = get(store, artifact);
    if (hit) {
      ASSERT_TRUE(same(hit->artifact, artifact));
    } else {
      ASSERT_TRUE(store.put(artifact));
      hit = get(store, artifact);
      ASSERT_TRUE(hit);
      ASSERT_TRUE(same(hit->artifact, artifact));
    }
    LayeredStore another(options());
    ASSERT_TRUE(get(another, artifact));
  }

  TemporaryFolder folder_;
  Messages messages_;
};

}  // namespace kiln::cache
