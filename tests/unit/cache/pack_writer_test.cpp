#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cache/layered_store.hpp"
#include "cache_fixture.hpp"

namespace kiln::cache {
namespace {

using namespace testing;

class PackWriterTest : public ::testing::Test {
 protected:
  std::filesystem::path pack(const char* name = "a.kilnpack") const { return folder_.path() / name; }
  std::filesystem::path partial() const { return pack("a.kilnpack.partial"); }
  std::size_t files() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder_.path())) {
      ++count;
    }
    return count;
  }
  std::optional<Hit> get_from(const std::filesystem::path& file, const Artifact& artifact) {
    ServiceOptions options;
    options.packs = {file};
    LayeredStore store(options);
    return get(store, artifact);
  }
  std::string why_not(const std::filesystem::path& file) {
    try {
      PackWriter writer(file);
    } catch (const StoreError& error) {
      EXPECT_EQ(error.path(), file.string());
      return error.what();
    }
    return {};
  }

  TemporaryFolder folder_;
};

TEST_F(PackWriterTest, APackIsOneFileThatServes) {
  PackWriter writer(pack());
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(writer.contains(sample_artifact(i).key, k_compiler));
    writer.put(sample_artifact(i));
    EXPECT_TRUE(writer.contains(sample_artifact(i).key, k_compiler));
    EXPECT_FALSE(writer.contains(sample_artifact(i).key, {12, 9, 86}));
  }
  EXPECT_FALSE(std::filesystem::exists(pack()));
  writer.finish();
  EXPECT_EQ(files(), 1U);
  for (int i = 0; i < 5; ++i) {
    std::optional<Hit> hit = get_from(pack(), sample_artifact(i));
    ASSERT_TRUE(hit);
    EXPECT_TRUE(hit->from_pack);
    EXPECT_TRUE(same(hit->artifact, sample_artifact(i)));
  }
}

TEST_F(PackWriterTest, TheSameRowsGiveTheSameBytes) {
  {
    PackWriter writer(pack());
    for (int i = 0; i < 40; ++i) {
      writer.put(sample_artifact(i));
    }
    writer.finish();
  }
  {
    PackWriter writer(pack("b.kilnpack"));
    for (int i = 39; i >= 20; --i) {
      writer.put(sample_artifact(i));
    }
  }
  PackWriter writer(pack("b.kilnpack"));
  for (int i = 0; i < 20; ++i) {
    writer.put(sample_artifact(i));
    writer.put(sample_artifact(i));
  }
  writer.finish();
  EXPECT_TRUE(read_file(pack()) == read_file(pack("b.kilnpack")));
}

TEST_F(PackWriterTest, GoesOnWhereItStopped) {
  {
    PackWriter writer(pack());
    writer.put(sample_artifact(1));
  }
  EXPECT_FALSE(std::filesystem::exists(pack()));
  PackWriter writer(pack());
  EXPECT_TRUE(writer.contains(sample_artifact(1).key, k_compiler));
  writer.put(sample_artifact(2));
  writer.finish();
  EXPECT_TRUE(get_from(pack(), sample_artifact(1)));
  EXPECT_TRUE(get_from(pack(), sample_artifact(2)));
  EXPECT_EQ(files(), 1U);
}

TEST_F(PackWriterTest, GoesOnAfterItWasKilled) {
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    PackWriter writer(pack());
    for (int i = 0; i < 10; ++i) {
      writer.put(sample_artifact(i));
    }
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  PackWriter writer(pack());
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(writer.contains(sample_artifact(i).key, k_compiler));
  }
}

TEST_F(PackWriterTest, APackThatIsThereIsExtended) {
  {
    PackWriter writer(pack());
    writer.put(sample_artifact(1));
    writer.finish();
  }
  PackWriter writer(pack());
  EXPECT_TRUE(writer.contains(sample_artifact(1).key, k_compiler));
  writer.put(sample_artifact(2));
  writer.finish();
  EXPECT_TRUE(get_from(pack(), sample_artifact(1)));
  EXPECT_TRUE(get_from(pack(), sample_artifact(2)));
}

TEST_F(PackWriterTest, AnUnusableRemainderIsMadeAnew) {
  {
    PackWriter writer(pack());
    writer.put(sample_artifact(2));
  }
  write_file(partial(), read_file(partial()).substr(0, 5000));  // what a crash may leave
  PackWriter writer(pack());
  EXPECT_FALSE(writer.contains(sample_artifact(2).key, k_compiler));
  writer.put(sample_artifact(1));
  writer.finish();
  EXPECT_TRUE(get_from(pack(), sample_artifact(1)));
  EXPECT_EQ(files(), 1U);
}

TEST_F(PackWriterTest, AFileThatKilnDidNotMakeIsLeftAloneAndNamed) {
  for (const char* suffix : {".partial", ".partial-journal", ".partial-wal", ".new", ".new-journal"}) {
    const std::filesystem::path theirs = pack().string() + suffix;
    write_file(theirs, "precious");
    try {
      PackWriter writer(pack());
      ADD_FAILURE() << theirs << " is in the way";
    } catch (const StoreError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("'" + theirs.string() + "' is in the way"));
    }
    EXPECT_EQ(read_file(theirs), "precious");
    EXPECT_EQ(files(), 1U) << "nothing else was begun";
    std::filesystem::remove(theirs);
  }
}

TEST_F(PackWriterTest, AJournalThatLostItsRemainderIsNobodys) {
  for (const std::string& begin : {std::string("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8), std::string(8, '\0')}) {
    write_file(partial().string() + "-journal", begin + std::string(504, '\0'));
    PackWriter writer(pack());
    writer.put(sample_artifact(1));
    writer.finish();
    EXPECT_TRUE(get_from(pack(), sample_artifact(1)));
    EXPECT_EQ(files(), 1U);
  }
}

TEST_F(PackWriterTest, ARemainderThatOthersMayWriteIsMadeAnew) {
  {
    PackWriter writer(pack());
    writer.put(sample_artifact(1));
  }
  std::filesystem::permissions(partial(), std::filesystem::perms(0666));
  PackWriter writer(pack());
  EXPECT_FALSE(writer.contains(sample_artifact(1).key, k_compiler)) << "it could be anybody's";
  writer.put(sample_artifact(2));
  writer.finish();
  EXPECT_FALSE(get_from(pack(), sample_artifact(1)));
  EXPECT_TRUE(get_from(pack(), sample_artifact(2)));
  EXPECT_EQ(files(), 1U);
}

TEST_F(PackWriterTest, MayBeNamedWithTwoSlashes) {
  const std::filesystem::path file = "/" + pack().string();
  for (int i = 0; i < 2; ++i) {
    PackWriter writer(file);
    writer.put(sample_artifact(i));
    writer.finish();
  }
  EXPECT_TRUE(get_from(file, sample_artifact(0)));
  EXPECT_TRUE(get_from(file, sample_artifact(1)));
}

TEST_F(PackWriterTest, WhatIsNoPackIsNamed) {
  {
    PackWriter writer(pack());
    for (int i = 0; i < 20; ++i) {
      writer.put(sample_artifact(i));
    }
    writer.finish();
  }
  std::string whole = read_file(pack());
  write_file(pack(), "text");
  EXPECT_NE(why_not(pack()).find("not a usable pack"), std::string::npos);
  write_file(pack(), whole.substr(0, whole.size() - 4096));
  EXPECT_NE(why_not(pack()).find("truncated"), std::string::npos);
  write_file(pack(), "");
  EXPECT_NE(why_not(pack()).find("empty"), std::string::npos);
  {
    ServiceOptions options;
    options.cache_dir = folder_.path() / "cache";
    LayeredStore(options).put(sample_artifact(1));
  }
  EXPECT_NE(why_not(folder_.path() / "cache" / "kiln.db").find("it is a user cache"), std::string::npos)
      << "a user cache";
  EXPECT_NE(why_not(folder_.path() / "missing" / "a.kilnpack"), "");
}

TEST_F(PackWriterTest, OneProcessWritesAPackAtATime) {
  PackWriter writer(pack());
  writer.put(sample_artifact(1));
  EXPECT_NE(why_not(pack()).find("another process"), std::string::npos);
}

TEST_F(PackWriterTest, WhatCannotBeServedIsRefused) {
  PackWriter writer(pack());
  Artifact artifact = sample_artifact(1);
  artifact.image.clear();
  EXPECT_THROW(writer.put(artifact), StoreError);
}

}  // namespace
}  // namespace kiln::cache
