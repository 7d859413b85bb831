// Nothing is opened for writing where the cache is read-only: each service here runs in a process that is ended by the
// kernel as soon as it tries. Where everything is a hit, an ordinary cache is not written either, but for its counters.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <optional>
#include <vector>

#include "kiln/maintenance.hpp"
#include "service_fixture.hpp"
#include "support/write_guard.hpp"

namespace kiln::test {
namespace {

constexpr int k_skipped = 77;

class ReadOnly : public ServiceTest {
 protected:
  ReadOnly() {
    read_only_ = options();
    read_only_.cache_mode = CacheMode::read_only;
  }
  /// Asks for kernels 1, 2, … in a process that must not write, and expects them to be come by so.
  void expect_without_writing(const ServiceOptions& options, const std::vector<Outcome>& outcomes) {
    nvrtc_.stop_counting();
    const auto before = cache();
    const int status = ChildProcess([&] {
                         if (!forbid_writing()) {
                           return k_skipped;
                         }
                         return failures(options, outcomes);
                       }).wait();
    if (status == k_skipped) {
      GTEST_SKIP() << "this kernel or processor has no seccomp filters that are known here";
    }
    EXPECT_EQ(status, 0) << "-31 (SIGSYS): it wrote";
    EXPECT_EQ(cache(), before);
  }
  int failures(const ServiceOptions& options, const std::vector<Outcome>& outcomes) {
    Service service(options);
    int failed = 0;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      failed += ask(service, static_cast<int>(i) + 1).outcome == outcomes[i] ? 0 : 1;
    }
    if (options.cache_mode == CacheMode::read_only) {
      service.stats();
    }
    return failed;
  }
  struct File {
    ino_t inode;
    off_t size;
    std::int64_t changed_ns;
    bool operator==(const File&) const = default;
  };
  /// Every file of the cache, and the directory itself.
  std::map<std::string, File> cache() const {
    std::map<std::string, File> files;
    auto add = [&](const std::filesystem::path& path) {
      struct stat status{};
      ::stat(path.c_str(), &status);
      files[path.string()] = {status.st_ino, status.st_size,
                              std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
    };
    if (std::filesystem::exists(folder_ / "cache")) {
      add(folder_ / "cache");
      for (const auto& file : std::filesystem::directory_iterator(folder_ / "cache")) {
        add(file.path());
      }
    }
    return files;
  }

  ServiceOptions read_only_;
};

TEST_F(ReadOnly, TheGuardEndsWhoWrites) {
  EXPECT_EQ(ChildProcess([&] { return forbid_writing() ? failures(options(), {Outcome::compiled}) : -SIGSYS; }).wait(),
            -SIGSYS);
}

TEST_F(ReadOnly, HitsAndMisses) {
  ask_anew(1);
  ask_anew(2);
  expect_without_writing(read_only_, {Outcome::disk, Outcome::disk, Outcome::compiled});
}

TEST_F(ReadOnly, WithoutACache) {
  expect_without_writing(read_only_, {Outcome::compiled, Outcome::compiled});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "cache"));
}

TEST_F(ReadOnly, BesideAProcessThatWrites) {
  const Signal ready;
  ChildProcess writer([&] {
    Service service(options());
    ask(service, 1);
    ready.give();
    ::pause();
    return 0;
  });
  ASSERT_TRUE(ready.take());
  ASSERT_GT(std::filesystem::file_size(beside("-wal")), 0U) << "the kernel is in the log only";
  expect_without_writing(read_only_, {Outcome::disk, Outcome::compiled});
}

TEST_F(ReadOnly, WithALogThatAKilledProcessLeft) {
  const Signal ready;
  ChildProcess writer([&] {
    Service service(options());
    ask(service, 1);
    ready.give();
    ::pause();
    return 0;
  });
  ASSERT_TRUE(ready.take());
  writer.kill(SIGKILL);
  writer.wait();
  ASSERT_GT(std::filesystem::file_size(beside("-wal")), 0U);
  expect_without_writing(read_only_, {Outcome::disk, Outcome::compiled});
  // Without shared memory the log cannot be read by someone who must not make any.
  std::filesystem::remove(beside("-shm"));
  expect_without_writing(read_only_, {Outcome::compiled, Outcome::compiled});
  EXPECT_EQ(ask_anew(1), Outcome::disk) << "it is still there for who may write";
}

TEST_F(ReadOnly, AllHitsOfAnOrdinaryCacheTouchItsCountersOnly) {
  ask_anew(1);
  ask_anew(2);
  const auto files = [this] {
    std::map<std::string, File> found = cache();
    found.erase((folder_ / "cache" / "kiln.stats").string());
    return found;
  };
  const auto before = files();
  EXPECT_EQ(failures(options(), {Outcome::disk, Outcome::disk}), 0);
  EXPECT_EQ(files(), before);
}

TEST_F(ReadOnly, AllHitsOfAPack) {
  ask_anew(1);
  ask_anew(2);
  export_cache(options(), folder_ / "made.kilnpack");
  std::filesystem::remove_all(folder_ / "cache");
  ServiceOptions with_pack = options();
  with_pack.packs = {folder_ / "made.kilnpack"};
  expect_without_writing(with_pack, {Outcome::pack, Outcome::pack});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "cache"));
}

/// Makes the cache read-only for this process alone.
bool mount_read_only(const std::string& place) {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount(place.c_str(), place.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
         ::mount("none", place.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
}

TEST_F(ReadOnly, AllHitsOnAReadOnlyFileSystem) {
  ask_anew(1);
  ask_anew(2);
  nvrtc_.stop_counting();
  const int status = ChildProcess([&] {
                       if (!mount_read_only((folder_ / "cache").string()) || !forbid_writing()) {
                         return k_skipped;
                       }
                       return failures(options(), {Outcome::disk, Outcome::disk});
                     }).wait();
  if (status == k_skipped) {
    GTEST_SKIP() << "this user may not mount";
  }
  EXPECT_EQ(status, 0) << "-31 (SIGSYS): it wrote";
}

TEST_F(ReadOnly, AMissOnAReadOnlyFileSystemIsCompiled) {
  ask_anew(1);
  const int status = ChildProcess([&] {
                       if (!mount_read_only((folder_ / "cache").string())) {
                         return k_skipped;
                       }
                       Service service(options());
                       const bool well = ask(service, 1).outcome == Outcome::disk &&
                                         ask(service, 2).outcome == Outcome::compiled &&
                                         ask(service, 1).outcome == Outcome::memory && service.stats().puts_lost == 1 &&
                                         messages_.count() == 1;
                       return well && ask_anew(1) == Outcome::disk ? 0 : 1;
                     }).wait();
  if (status == k_skipped) {
    GTEST_SKIP() << "this user may not mount";
  }
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace kiln::test
