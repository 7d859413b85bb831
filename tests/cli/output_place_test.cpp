#include "cli/output_place.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/exit_code.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string k_database("SQLite format 3\0 and what is in it", 35);

class OutputPlace : public testing::Test {
 protected:
  OutputPlace() {
    fs::create_directory(folder_ / "cache");
    fs::create_symlink("cache", folder_ / "link");
    options_.cache_dir = folder_ / "cache";
  }
  /// What `Refusal` says of it; empty if it is free.
  template <typename Refusal>
  std::string refusal(const fs::path& file) const {
    try {
      require_free_place(file, options_);
    } catch (const Refusal& error) {
      EXPECT_THAT(error.what(), HasSubstr("'" + file.string() + "'"));
      EXPECT_THAT(error.what(), HasSubstr("name another file"));
      return error.what();
    }
    return "";
  }

  test::TempDir folder_;
  ServiceOptions options_;
};

TEST_F(OutputPlace, OfACacheIsNotFreeThoughNothingIsThere) {
  for (const auto& [name, what] : {std::pair{"kiln.db", "keeps its kernels"},
                                   {"kiln.stats", "keeps its counters"},
                                   {"kiln.db.corrupt-1", "keeps a damaged database"},
                                   {"kiln.db-wal", "is kept beside"},
                                   {"kiln.db-shm", "is kept beside"},
                                   {"kiln.db-journal", "is kept beside"},
                                   {"kiln.db.corrupt-2-wal", "is kept beside"}}) {
    EXPECT_THAT(refusal<UsageError>(folder_ / "cache" / name), HasSubstr(what));
    EXPECT_THAT(refusal<UsageError>(folder_ / "link" / name), HasSubstr(what));
    EXPECT_THAT(refusal<UsageError>(folder_ / "link/../cache" / name), HasSubstr(what));
    EXPECT_THAT(refusal<UsageError>(folder_ / name), HasSubstr(what)) << "of a cache that is not in use";
  }
}

TEST_F(OutputPlace, ThatALinkLeadsToIsTheLinksToo) {
  fs::create_symlink("cache/kiln.stats", folder_ / "counters");
  EXPECT_THAT(refusal<UsageError>(folder_ / "counters"), HasSubstr("keeps its counters"));
  fs::create_symlink("kernels", folder_ / "cache/kiln.db");
  EXPECT_THAT(refusal<UsageError>(folder_ / "cache/kernels"), HasSubstr("keeps its kernels"));
}

TEST_F(OutputPlace, ThatTheOptionsNameIsNotFree) {
  options_.packs = {folder_ / "a.kilnpack"};
  options_.record = folder_ / "plan.json";
  options_.nvrtc = folder_ / "libnvrtc.so";
  EXPECT_THAT(refusal<UsageError>(folder_ / "a.kilnpack"), HasSubstr("a pack that KILN_PACKS names"));
  EXPECT_THAT(refusal<UsageError>(folder_ / "a.kilnpack-wal"), HasSubstr("is kept beside"));
  EXPECT_THAT(refusal<UsageError>(folder_ / "a.kilnpack.new"), HasSubstr("is kept beside"));
  EXPECT_THAT(refusal<UsageError>(folder_ / "cache/../plan.json"), HasSubstr("the plan that KILN_RECORD names"));
  EXPECT_THAT(refusal<UsageError>(folder_ / "libnvrtc.so"), HasSubstr("the compiler that KILN_NVRTC names"));
}

TEST_F(OutputPlace, BesideAnyDatabaseIsForWhatBelongsToIt) {
  test::write_file(folder_ / "other", k_database);
  for (const char* suffix : {"-wal", "-shm", "-journal", ".new", ".partial"}) {
    EXPECT_THAT(refusal<std::runtime_error>(folder_ / (std::string("other") + suffix)),
                HasSubstr("is kept beside the database '" + (folder_ / "other").string() + "'"));
  }
}

TEST_F(OutputPlace, IsFreeElsewhere) {
  test::write_file(folder_ / "text", "no database");
  for (const char* name :
       {"scale.cubin", "cache/scale.cubin", "text-wal", "missing.new", "-wal", "kiln.db2", "stats"}) {
    EXPECT_EQ(refusal<std::exception>(folder_ / name), "") << name;
  }
}

}  // namespace
}  // namespace kiln::cli
