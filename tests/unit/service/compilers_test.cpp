// Several compilers on one machine, and none.
#include <gtest/gtest.h>

#include <thread>

#include "service_fixture.hpp"
#include "support/raw_database.hpp"

namespace kiln::test {
namespace {

class Compilers : public ServiceTest {
 protected:
  ServiceOptions with(const std::filesystem::path& library) {
    ServiceOptions options = this->options();
    options.nvrtc = library;
    return options;
  }
  Lookup ask_with(const FakeNvrtc& nvrtc, int n) { return ask(Service(with(nvrtc.library())), n); }

  FakeNvrtc& new_ = nvrtc_;
  FakeNvrtc old_{folder_ / "old", "12.9.86"};
};

TEST_F(Compilers, SideBySideHaveARowEachUnderOneKey) {
  EXPECT_EQ(ask_with(old_, 1).outcome, Outcome::compiled);
  EXPECT_EQ(ask_with(new_, 1).outcome, Outcome::compiled);
  for (int round = 0; round < 2; ++round) {
    const Lookup by_old = ask_with(old_, 1);
    const Lookup by_new = ask_with(new_, 1);
    EXPECT_EQ(by_old.outcome, Outcome::disk);
    EXPECT_EQ(by_new.outcome, Outcome::disk);
    EXPECT_EQ(by_old.artifact->compiler, (Compiler{12, 9, 86}));
    EXPECT_EQ(by_new.artifact->compiler, (Compiler{13, 0, 88}));
    EXPECT_NE(by_old.artifact->image, by_new.artifact->image);
    EXPECT_EQ(by_old.artifact->key, by_new.artifact->key);
  }
  EXPECT_EQ(old_.compiles(), 1U);
  EXPECT_LE(new_.compiles(), 2U) << "one, and one to tell which compiler it is";
  EXPECT_EQ(Service(options()).query(Query{}).size(), 2U);
}

TEST_F(Compilers, OneBuildMoreIsAnotherCompiler) {
  const FakeNvrtc patched(folder_ / "patched", "13.0.89");
  EXPECT_EQ(ask_with(new_, 1).outcome, Outcome::compiled);
  EXPECT_EQ(ask_with(patched, 1).outcome, Outcome::compiled);
  EXPECT_EQ(ask_with(new_, 1).outcome, Outcome::disk);
  EXPECT_EQ(ask_with(patched, 1).outcome, Outcome::disk);
}

TEST_F(Compilers, WithNoneTheNewestRowServes) {
  const std::filesystem::path nowhere = folder_ / "nowhere" / "libnvrtc.so";
  ask_with(old_, 1);
  ask_with(new_, 1);
  EXPECT_EQ(ask(Service(with(nowhere)), 1).artifact->compiler, (Compiler{13, 0, 88}));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // rows know when they were made, in seconds
  ask_with(new_, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  ask_with(old_, 2);
  EXPECT_EQ(ask(Service(with(nowhere)), 2).artifact->compiler, (Compiler{12, 9, 86}));
  EXPECT_THROW(ask(Service(with(nowhere)), 3), Error);
}

TEST_F(Compilers, ALibraryReplacedInPlaceIsNoticed) {
  ask_anew(1);
  ASSERT_EQ(ask_anew(1), Outcome::disk);
  std::filesystem::copy_file(nvrtc_.library(), nvrtc_.folder() / "next");
  write_file(nvrtc_.folder() / "version", "13.1.12");
  std::filesystem::rename(nvrtc_.folder() / "next", nvrtc_.library());
  const bool well =
      ChildProcess([&] {
        const Lookup found = ask(Service(options()), 1);
        return found.outcome == Outcome::compiled && found.artifact->compiler == Compiler{13, 1, 12} ? 0 : 1;
      }).wait() == 0;
  EXPECT_TRUE(well);
}

// Whose file is unchanged need not be opened to be known.
TEST_F(Compilers, AreRememberedByTheirFiles) {
  ask_anew(1);
  const std::size_t compiles = nvrtc_.compiles();
  write_file(nvrtc_.folder() / "version", "99.9.9");  // it would say so if it was opened
  EXPECT_EQ(ask_anew(1), Outcome::disk);
  EXPECT_EQ(nvrtc_.compiles(), compiles);
}

}  // namespace
}  // namespace kiln::test
