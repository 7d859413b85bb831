#include "kiln/link.hpp"

#include <gtest/gtest.h>

#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln {
namespace {

class ThroughLinksTest : public testing::Test {
 protected:
  std::filesystem::path end_of(const std::string& name) { return through_links(folder_ / name, error_); }

  test::TempDir folder_;
  std::error_code error_;
};

TEST_F(ThroughLinksTest, ComesToTheEndBeItThereOrNot) {
  test::write_file(folder_ / "file", "");
  std::filesystem::create_directory(folder_ / "folder");
  std::filesystem::create_symlink("file", folder_ / "one");
  std::filesystem::create_symlink(folder_ / "one", folder_ / "two");
  std::filesystem::create_symlink("folder/none", folder_ / "dangling");
  EXPECT_EQ(end_of("file"), folder_ / "file");
  EXPECT_EQ(end_of("none"), folder_ / "none");
  EXPECT_EQ(end_of("two"), folder_ / "file");
  EXPECT_EQ(end_of("dangling"), folder_ / "folder/none");
  EXPECT_FALSE(error_);
}

TEST_F(ThroughLinksTest, ACircleIsAnError) {
  std::filesystem::create_symlink("other", folder_ / "one");
  std::filesystem::create_symlink("one", folder_ / "other");
  EXPECT_EQ(end_of("one"), "");
  EXPECT_EQ(error_, std::errc::too_many_symbolic_link_levels);
}

}  // namespace
}  // namespace kiln
