#include "cli/table.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::cli {
namespace {

TEST(Table, AlignsByCharactersAndNotByBytes) {
  test::TempDir folder;
  Output out;
  Table table(out, {{"NAME"}, {"SIZE", true}});
  table.add({"w\xC3\xA9ird", "1"});
  table.add({"plain", "1000"});
  table.finish();
  // What Output writes goes to standard output.
  int kept = dup(STDOUT_FILENO);
  FILE* file = std::freopen((folder / "out").c_str(), "w", stdout);
  out.flush();
  dup2(kept, STDOUT_FILENO);
  close(kept);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(test::read_file(folder / "out"), "NAME   SIZE\nw\xC3\xA9ird     1\nplain  1000\n");
}

}  // namespace
}  // namespace kiln::cli
