// Where a cache cannot be kept: the kernel is given all the same, the loss is counted, and said once.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "kiln/maintenance.hpp"
#include "service_fixture.hpp"
#include "support/fault_vfs.hpp"
#include "support/raw_database.hpp"

namespace kiln::test {
namespace {

constexpr int k_skipped = 2;
constexpr uid_t k_other = 54326;

class Degradation : public ServiceTest {
 protected:
  /// What a service with `options` does about two kernels when it can keep neither; empty when that is right.
  std::string trouble_of(const ServiceOptions& options, const std::string& said) {
    Service service(options);
    for (int n : {1, 2}) {
      const Lookup found = ask(service, n);
      if (found.outcome != Outcome::compiled || found.artifact->image.empty()) {
        return "kernel " + std::to_string(n) + " was not compiled";
      }
      if (ask(service, n).outcome != Outcome::memory) {
        return "kernel " + std::to_string(n) + " was not remembered";
      }
    }
    const Stats stats = service.stats();
    if (stats.compiles != 2 || stats.puts != 0 || stats.puts_lost != 2) {
      return std::to_string(stats.compiles) + " compiles, " + std::to_string(stats.puts) + " puts, " +
             std::to_string(stats.puts_lost) + " lost";
    }
    if (messages_.count() != 1 || messages_.count_with(said) != 1) {
      std::string all = "instead of one message with '" + said + "' there are " + std::to_string(messages_.count());
      for (const std::string& message : messages_.all()) {
        all += "\n  " + message;
      }
      return all;
    }
    return "";
  }
  /// The same in a child process, which prints what is wrong.
  template <typename Prepare>
  int trouble_in_child(const ServiceOptions& options, const std::string& said, Prepare prepare) {
    return ChildProcess([&] {
             if (!prepare()) {
               return k_skipped;
             }
             const std::string trouble = trouble_of(options, said);
             std::fputs(trouble.c_str(), stderr);
             return trouble.empty() ? 0 : 1;
           })
        .wait();
  }
  /// Mounts an empty file system in `folder_ / "mount"`, for this process alone.
  bool mount_here(const std::string& data) {
    const std::filesystem::path place = folder_ / "mount";
    std::filesystem::create_directory(place);
    std::filesystem::permissions(place, std::filesystem::perms::owner_all);
    return ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("kiln", place.c_str(), "tmpfs", 0, data.c_str()) == 0;
  }
  ServiceOptions options_in(const std::filesystem::path& directory) {
    ServiceOptions there = options();
    there.cache_dir = directory;
    return there;
  }
  ServiceOptions options_of_environment() {
    ServiceOptions given = ServiceOptions::from_environment();
    given.nvrtc = nvrtc_.library();
    given.log = messages_.callback();
    return given;
  }
};

TEST_F(Degradation, WithoutAHome) {
  for (const char* name : {"HOME", "XDG_CACHE_HOME", "KILN_CACHE_DIR", "KILN_CACHE_MODE", "KILN_PACKS"}) {
    unsetenv(name);
  }
  EXPECT_EQ(trouble_of(options_of_environment(), "KILN_CACHE_DIR"), "");
}

TEST_F(Degradation, WithAHomeThatCannotBe) {
  for (const char* name : {"XDG_CACHE_HOME", "KILN_CACHE_DIR", "KILN_CACHE_MODE", "KILN_PACKS"}) {
    unsetenv(name);
  }
  write_file(folder_ / "file", "no directory");
  setenv("HOME", (folder_ / "file" / "home").c_str(), 1);
  EXPECT_EQ(trouble_of(options_of_environment(), "KILN_CACHE_DIR"), "");
}

TEST_F(Degradation, SwitchedOffIsNoTrouble) {
  ServiceOptions off = options();
  off.cache_mode = CacheMode::off;
  Service service(off);
  EXPECT_EQ(ask(service, 1).outcome, Outcome::compiled);
  EXPECT_EQ(messages_.count(), 0U);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "cache"));
}

TEST_F(Degradation, InADirectoryThatMayNotBeWritten) {
  using std::filesystem::perms;
  std::filesystem::create_directory(folder_ / "closed");
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::chown((folder_ / "closed").c_str(), k_other, k_other), 0);
    std::filesystem::permissions(folder_.path(), perms(0755));
    std::filesystem::permissions(nvrtc_.folder() / "compiles", perms(0666));
  }
  std::filesystem::permissions(folder_ / "closed", perms(0500));
  EXPECT_EQ(trouble_in_child(options_in(folder_ / "closed" / "cache"), "KILN_CACHE_DIR",
                             [&] { return !root || ::setresuid(k_other, k_other, k_other) == 0; }),
            0);
  if (root) {
    ::unlink("/dev/shm/kiln-leases-54326");
    ::unlink("/tmp/kiln-leases-54326");
  }
}

// As on a network file system, where a journal stands beside the database while it is written.
TEST_F(Degradation, InADirectoryWhereNoJournalCanBeMade) {
  using std::filesystem::perms;
  ASSERT_EQ(ask_anew(9), Outcome::compiled);
  RawDatabase(database()).execute("PRAGMA journal_mode = DELETE");
  const bool root = ::geteuid() == 0;
  if (root) {
    for (const auto& path : {database(), database().parent_path()}) {
      ASSERT_EQ(::chown(path.c_str(), k_other, k_other), 0);
    }
    std::filesystem::permissions(folder_.path(), perms(0755));
    std::filesystem::permissions(nvrtc_.folder() / "compiles", perms(0666));
  }
  std::filesystem::permissions(database().parent_path(), perms(0500));
  const std::string before = read_file(database());
  EXPECT_EQ(trouble_in_child(options(), "may write the file and its folder",
                             [&] { return !root || ::setresuid(k_other, k_other, k_other) == 0; }),
            0);
  std::filesystem::permissions(database().parent_path(), perms(0700));
  EXPECT_EQ(read_file(database()), before) << "nothing is deleted because of an I/O error";
  if (root) {
    ::unlink("/dev/shm/kiln-leases-54326");
    ::unlink("/tmp/kiln-leases-54326");
  }
}

TEST_F(Degradation, WhatIsInADirectoryThatCannotBeWrittenIsListedShownAndCounted) {
  using std::filesystem::perms;
  ASSERT_EQ(ask_anew(9), Outcome::compiled);
  const bool root = ::geteuid() == 0;
  if (root) {
    for (const auto& path : {database(), database().parent_path()}) {
      ASSERT_EQ(::chown(path.c_str(), k_other, k_other), 0);
    }
    std::filesystem::permissions(folder_.path(), perms(0755));
  }
  std::filesystem::permissions(database().parent_path(), perms(0500));
  ChildProcess child([&] {
    if (root && ::setresuid(k_other, k_other, k_other) != 0) {
      return k_skipped;
    }
    Service service(options());
    const std::vector<Entry> entries = service.query({});
    if (entries.size() != 1 || !service.show(entries.front().key.text())) {
      return 3;
    }
    const Stats stats = service.stats();
    if (stats.degraded != 0 || stats.layers.size() != 1 || stats.layers.front().entries != 1) {
      return 4;
    }
    if (service.find(sample_, {{"n", 8}}, target_).artifact || !service.find(sample_, {{"n", 9}}, target_).artifact) {
      return 5;
    }
    try {
      service.clear();
      return 6;
    } catch (const StoreError& error) {
      const std::string said = error.what();
      return said.find("kiln.db") == said.rfind("kiln.db") && messages_.count() == 0 ? 0 : 7;
    }
  });
  EXPECT_EQ(child.wait(), 0);
  std::filesystem::permissions(database().parent_path(), perms(0700));
  EXPECT_TRUE(std::filesystem::exists(database()));
}

TEST_F(Degradation, OnAFullDiskTheCacheCanBeClearedAndTrimTellsHow) {
  ASSERT_EQ(ask_anew(9), Outcome::compiled);
  Service service(options());
  FaultVfs disk;
  disk.arm(Fault::disk_full, 1, Times::forever);
  try {
    trim(options(), {.max_bytes = 0});
    ADD_FAILURE() << "there was room";
  } catch (const StoreError& error) {
    EXPECT_NE(std::string(error.what()).find("kiln clear"), std::string::npos) << error.what();
  }
  EXPECT_EQ(service.clear(), 1U);
  EXPECT_FALSE(std::filesystem::exists(database()));
  EXPECT_EQ(messages_.count(), 0U);
  disk.disarm();
  EXPECT_EQ(service.stats().degraded, 0U);
  EXPECT_TRUE(service.query({}).empty());
  EXPECT_EQ(ask(service, 9).outcome, Outcome::compiled);
  EXPECT_EQ(ask_anew(9), Outcome::disk) << "a sound cache was made anew";
}

TEST_F(Degradation, WithoutDescriptorsTheLimitIsTheRemedy) {
#ifdef KILN_SANITIZED
  GTEST_SKIP() << "the sanitizers open a pipe to look at an object";
#endif
  nvrtc_.stop_counting();
  const int status = ChildProcess([&] {
                       Service first(options());  // so that the compiler is loaded
                       ask(first, 1);
                       const rlimit none{0, 0};
                       ::setrlimit(RLIMIT_NOFILE, &none);
                       Service second(options());
                       const bool compiled = ask(second, 2).outcome == Outcome::compiled;
                       for (const std::string& message : messages_.all()) {
                         std::fputs((message + "\n").c_str(), stderr);
                       }
                       return compiled && messages_.count() == 2 && messages_.count_with("ulimit -n") == 2 &&
                                      messages_.count_with("KILN_CACHE_DIR") == 0
                                  ? 0
                                  : 1;
                     }).wait();
  EXPECT_EQ(status, 0);
}

TEST_F(Degradation, OnAReadOnlyFileSystem) {
  const int status = trouble_in_child(options_in(folder_ / "mount" / "cache"), "KILN_CACHE_DIR",
                                      [&] { return mount_here("ro,mode=700"); });
  if (status == k_skipped) {
    GTEST_SKIP() << "this user may not mount";
  }
  EXPECT_EQ(status, 0);
}

TEST_F(Degradation, OnAFullDisk) {
  const int status = trouble_in_child(options_in(folder_ / "mount" / "cache"), "No space left",
                                      [&] { return mount_here("size=16k,mode=700"); });
  if (status == k_skipped) {
    GTEST_SKIP() << "this user may not mount";
  }
  EXPECT_EQ(status, 0);
}

// A limit of the size of files stands in for a quota: SQLite hears of both as of a failed write.
TEST_F(Degradation, BeyondAQuota) {
  EXPECT_EQ(trouble_in_child(options(), "I/O error",
                             [] {
                               ::signal(SIGXFSZ, SIG_IGN);
                               const rlimit limit{10000, 10000};
                               return ::setrlimit(RLIMIT_FSIZE, &limit) == 0;
                             }),
            0);
}

TEST_F(Degradation, WhenTheDiskFillsUpUnderARunningService) {
  FaultVfs faults;
  Service service(options());
  EXPECT_EQ(ask(service, 1).outcome, Outcome::compiled);
  faults.arm(Fault::disk_full, 1, Times::forever);
  EXPECT_EQ(ask(service, 2).outcome, Outcome::compiled);
  EXPECT_EQ(ask(service, 3).outcome, Outcome::compiled);
  EXPECT_GE(faults.disarm(), 1U);
  EXPECT_EQ(service.stats().puts_lost, 2U);
  EXPECT_EQ(messages_.count(), 1U);
  EXPECT_EQ(messages_.count_with("full"), 1U);
  EXPECT_EQ(ask_anew(1), Outcome::disk) << "what was there stays";
  EXPECT_EQ(RawDatabase(database()).integrity(), "ok");
}

class DegradationByFault : public Degradation, public ::testing::WithParamInterface<Fault> {};

TEST_P(DegradationByFault, FromTheFirstCallOn) {
  FaultVfs faults;
  faults.arm(GetParam(), 1, Times::forever);
  EXPECT_EQ(trouble_of(options(), database().string()), "");
  EXPECT_GE(faults.disarm(), 1U);
}

TEST_P(DegradationByFault, WhileLookingUp) {
  ASSERT_EQ(ask_anew(1), Outcome::compiled);
  FaultVfs faults;
  faults.arm(GetParam(), 1, Times::forever);
  Service service(options());
  EXPECT_NE(ask(service, 1).artifact, nullptr);
  EXPECT_NE(ask(service, 2).artifact, nullptr);
  faults.disarm();
  EXPECT_EQ(service.stats().puts_lost + service.stats().puts, service.stats().compiles);
  EXPECT_LE(messages_.count(), 1U);
  EXPECT_EQ(ask_anew(1), Outcome::disk) << "nothing is deleted because of an I/O error";
}

INSTANTIATE_TEST_SUITE_P(Faults, DegradationByFault,
                         ::testing::Values(Fault::io_error, Fault::disk_full, Fault::short_write, Fault::no_lock),
                         [](const ::testing::TestParamInfo<Fault>& tested) {
                           std::string name = name_of(tested.param);
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace kiln::test
