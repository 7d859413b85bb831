#include "service/record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "service/plan_update.hpp"
#include "support/child_process.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::service {
namespace {

namespace fs = std::filesystem;

class RecordTest : public ::testing::Test {
 protected:
  /// What is logged when a request is recorded to `file`.
  std::vector<std::string> log_of(const fs::path& file, const std::string& text = "// kiln: entry t\n") {
    std::vector<std::string> lines;
    Recorder recorder(file, [&](LogLevel, std::string_view line) { lines.emplace_back(line); });
    recorder.add(Template::from_text("t.cu", text), {}, Target::cubin(90));
    recorder.add(Template::from_text("u.cu", text), {}, Target::cubin(90));
    return lines;
  }
  /// The reason in it: said once.
  std::string trouble_of(const fs::path& file, const std::string& text = "// kiln: entry t\n") {
    std::vector<std::string> lines = log_of(file, text);
    EXPECT_EQ(lines.size(), 1U);
    return lines.empty() ? "" : lines.front();
  }

  test::TempDir dir_;
};

TEST_F(RecordTest, WritesAPlan) {
  EXPECT_THAT(log_of(dir_ / "plan.json"), testing::IsEmpty());
  EXPECT_THAT(test::read_file(dir_ / "plan.json"), testing::HasSubstr("\"t.cu\""));
}

TEST_F(RecordTest, TouchesNothingThatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  std::string begin = "requests are no longer recorded to '";
  EXPECT_EQ(trouble_of(dir_ / "pipe"), begin + (dir_ / "pipe").string() + "': it is no regular file; name one");
  EXPECT_EQ(trouble_of("/dev/zero"), begin + "/dev/zero': it is no regular file; name one");
  EXPECT_EQ(trouble_of(dir_.path()), begin + dir_.path().string() + "': it is no regular file; name one");
}

TEST_F(RecordTest, FollowsLinksToAPlanThatIsThereAndToOneThatIsNot) {
  fs::create_directory(dir_ / "real");
  fs::create_symlink("real/plan.json", dir_ / "link");
  fs::create_symlink(dir_ / "link", dir_ / "other");
  EXPECT_THAT(log_of(dir_ / "other"), testing::IsEmpty());
  const std::string first = test::read_file(dir_ / "real/plan.json");
  EXPECT_THAT(first, testing::HasSubstr("\"t.cu\""));
  EXPECT_THAT(log_of(dir_ / "other", "// kiln: entry v\n"), testing::IsEmpty());
  const std::string second = test::read_file(dir_ / "real/plan.json");
  EXPECT_THAT(second, testing::HasSubstr("entry v"));
  EXPECT_GT(second.size(), first.size());
  EXPECT_TRUE(fs::is_symlink(dir_ / "link"));
  EXPECT_TRUE(fs::is_symlink(dir_ / "other"));
}

TEST_F(RecordTest, SaysPlainlyWhatIsWrongWithTheFile) {
  fs::create_symlink("loop", dir_ / "loop");
  EXPECT_THAT(trouble_of(dir_ / "loop"), testing::HasSubstr("its symbolic links lead in a circle"));
  EXPECT_THAT(trouble_of(dir_ / std::string(300, 'n')), testing::HasSubstr("its name is too long"));
  EXPECT_THAT(trouble_of(dir_ / "none/plan.json"), testing::HasSubstr("there is no such file or folder"));
}

TEST_F(RecordTest, AChildThatWasForkedMeanwhileKeepsNobodyOut) {
  std::optional<test::ChildProcess> child;
  update_plan(dir_ / "plan.json", [&](nlohmann::ordered_json&) {
    child.emplace([] {
      ::pause();
      return 0;
    });
    return false;
  });
  EXPECT_NO_THROW(update_plan(dir_ / "plan.json", [](nlohmann::ordered_json&) { return false; }));
}

TEST_F(RecordTest, LeavesAloneWhatIsNoPlan) {
  for (const char* text : {"", "[]", "{\"kiln_plan\": \"1\"}", "{\"kiln_plan\": 1, \"kernels\": {}}",
                           "{\"kiln_plan\": 1, \"kernels\": [], \"templates\": []}"}) {
    test::write_file(dir_ / "plan.json", text);
    EXPECT_THAT(trouble_of(dir_ / "plan.json"), testing::HasSubstr("name another file")) << text;
    EXPECT_EQ(test::read_file(dir_ / "plan.json"), text);
  }
}

TEST_F(RecordTest, TakesNoNameOfACachesFiles) {
  fs::create_symlink("kiln.stats", dir_ / "link");
  for (const char* name : {"kiln.db", "kiln.stats", "kiln.db-wal", "kiln.db-shm", "a.kilnpack-journal", "link"}) {
    EXPECT_THAT(trouble_of(dir_ / name),
                testing::HasSubstr("caches and databases keep files of that name; name another file"))
        << name;
    EXPECT_FALSE(fs::exists(dir_ / name)) << name;
  }
}

TEST_F(RecordTest, SaysThatAPlanHoldsUtf8Only) {
  EXPECT_THAT(trouble_of(dir_ / "plan.json", "// kiln: entry t\n// \xe9\n"),
              testing::HasSubstr("template 't.cu' holds text that is no UTF-8"));
}

}  // namespace
}  // namespace kiln::service
