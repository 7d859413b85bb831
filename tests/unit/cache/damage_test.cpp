// Every byte of a small database is flipped, and the file is cut off at every length: at worst a miss.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <functional>

#include "support/child_process.hpp"
#include "support/fault_vfs.hpp"
#include "unit/cache/maintenance_fixture.hpp"

namespace kiln::cache {
namespace {

constexpr std::uint64_t k_number = 1;

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KILN_SLOW_BUILD
#endif
#endif
#ifdef KILN_SLOW_BUILD
constexpr std::size_t k_step = 13;  // a prime: each kind of place in a page is met
#else
constexpr std::size_t k_step = 1;
#endif

enum class As { cache, read_only_cache, pack };

const char* name_of(As as) { return as == As::cache ? "cache" : as == As::pack ? "pack" : "read_only_cache"; }

class DamageTest : public MaintenanceTest, public ::testing::WithParamInterface<As> {
 protected:
  void SetUp() override {
    const auto made = root_ / "made";
    if (GetParam() == As::pack) {
      PackWriter writer(made);
      writer.put(test::sample_artifact(k_number));
      writer.finish();
      options_ = {};
      options_.packs = {file()};
    } else {
      fill(1);
      std::filesystem::rename(database(), made);
    }
    if (GetParam() == As::read_only_cache) {
      options_.cache_mode = CacheMode::read_only;
    }
    sound_ = test::read_file(made);
    put_in_place(sound_);
    ASSERT_TRUE(get()) << "it is found while it is sound";
  }

  std::filesystem::path folder() const { return root_ / "cache"; }
  std::filesystem::path file() const { return folder() / (GetParam() == As::pack ? "some.kilnpack" : "kiln.db"); }

  /// Nothing else is left beside it.
  void put_in_place(const std::string& content) const {
    std::filesystem::remove_all(folder());
    std::filesystem::create_directory(folder());
    std::filesystem::permissions(folder(), std::filesystem::perms::owner_all);
    test::write_file(file(), content);
    std::filesystem::permissions(file(), std::filesystem::perms(0600));
  }

  bool get() const {
    const Artifact wanted = test::sample_artifact(k_number);
    LayeredStore store(options_);
    const auto hit = store.get(wanted.key, wanted.spec, [&] { return wanted.compiler; });
    EXPECT_TRUE(!hit || (test::same_artifact(hit->artifact, wanted) && hit->artifact.compile_ms == wanted.compile_ms));
    return hit.has_value();
  }

  /// After a miss, what is compiled is kept, whatever was there.
  void expect_repaired() const {
    if (GetParam() == As::cache) {
      LayeredStore store(options_);
      EXPECT_TRUE(store.put(test::sample_artifact(k_number)));
      EXPECT_TRUE(get());
    }
  }

  /// True if it was found all the same.
  bool look_at(const std::string& damaged) {
    bool found = false;
    EXPECT_NO_THROW(found = get());
    (found ? hits_ : misses_)++;
    if (!found && misses_ % 50 == 1) {
      expect_repaired();
    }
    if (!found || test::read_file(file()) != damaged) {
      put_in_place(sound_);
      return false;
    }
    return true;
  }

  void report(const char* what) const {
    std::printf("[   DAMAGE ] %s, %s: %d misses, %d hits\n", what, name_of(GetParam()), misses_, hits_);
    RecordProperty("damaged", misses_ + hits_);
  }

  test::FaultVfs vfs_;  // does not wait for the disk
  std::string sound_;
  int misses_ = 0;
  int hits_ = 0;
};

void write_byte(const std::filesystem::path& file, std::size_t at, char byte) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(::pwrite(descriptor, &byte, 1, static_cast<off_t>(at)), 1);
  ::close(descriptor);
}

TEST_P(DamageTest, EveryByteFlipped) {
  std::string damaged = sound_;
  // A read-only cache is read as the others are first: it need not be looked at as closely.
  const std::size_t step = GetParam() == As::read_only_cache ? 7 * k_step : k_step;
  for (std::size_t at = 0; at < sound_.size(); at += step) {
    SCOPED_TRACE("byte " + std::to_string(at));
    // Each bit in some places, and several at once.
    damaged[at] = static_cast<char>(sound_[at] ^ static_cast<char>(1 + at * 37 % 255));
    write_byte(file(), at, damaged[at]);
    if (look_at(damaged)) {
      write_byte(file(), at, sound_[at]);
    }
    damaged[at] = sound_[at];
    ASSERT_FALSE(HasFailure());
  }
  report("flipped bytes");
  // The row's payload, and what leads to it. Hits: free space, tables that a look-up does not read.
  EXPECT_GT(static_cast<std::size_t>(misses_) * step, 3000u);
}

TEST_P(DamageTest, CutOffAtEveryLength) {
  for (std::size_t size = 0; size < sound_.size(); ++size) {
    const bool beside_a_page = size % 4096 <= 1 || size % 4096 == 4095;
    if (size >= 1024 && size % 64 != 0 && !beside_a_page) {
      continue;
    }
    SCOPED_TRACE("size " + std::to_string(size));
    const std::string damaged = sound_.substr(0, size);
    put_in_place(damaged);
    const bool found = look_at(damaged);
    // SQLite itself forgives what is missing of the last page.
    EXPECT_TRUE(!found || (GetParam() == As::cache && size > sound_.size() - 4096)) << "nobody noticed";
    ASSERT_FALSE(HasFailure());
  }
  report("lengths");
}

class DamagedLogTest : public MaintenanceTest {
 protected:
  void SetUp() override {
    fill(1);
    // A process that ends like this leaves its log behind.
    test::ChildProcess child([this] {
      LayeredStore store(options_);
      const bool written = store.put(test::sample_artifact(2));
      ::_exit(written ? 0 : 1);
      return 0;
    });
    ASSERT_EQ(child.wait(), 0);
    sound_ = test::read_file(database());
    log_ = test::read_file(log());
    ASSERT_GT(log_.size(), 4 * 4096u);
  }

  std::filesystem::path log() const { return database().string() + "-wal"; }
  void put_in_place(const std::string& log_content) const {
    for (const auto& file : std::filesystem::directory_iterator(*options_.cache_dir)) {
      std::filesystem::remove(file);
    }
    test::write_file(database(), sound_);
    test::write_file(log(), log_content);
    std::filesystem::permissions(database(), std::filesystem::perms(0600));
    std::filesystem::permissions(log(), std::filesystem::perms(0600));
  }
  /// What only the log has may be lost; what the database has may not.
  void look_at(const std::string& damaged) {
    put_in_place(damaged);
    EXPECT_NO_THROW({
      const auto first = get(options_, 1);
      EXPECT_TRUE(first && test::same_artifact(*first, test::sample_artifact(1)));
      const auto second = get(options_, 2);
      EXPECT_TRUE(!second || test::same_artifact(*second, test::sample_artifact(2)));
      (second ? hits_ : misses_)++;
    });
  }

  test::FaultVfs vfs_;  // does not wait for the disk
  std::string sound_;
  std::string log_;
  int misses_ = 0;
  int hits_ = 0;
};

TEST_F(DamagedLogTest, BytesFlipped) {
  constexpr std::size_t k_log_header = 32;
  constexpr std::size_t k_frame_header = 24;
  for (std::size_t at = 0; at < log_.size(); ++at) {
    const bool header = at < k_log_header || (at - k_log_header) % (k_frame_header + 4096) < k_frame_header;
    if (at % (header ? k_step : 5 * k_step) != 0) {
      continue;
    }
    SCOPED_TRACE("byte " + std::to_string(at));
    std::string damaged = log_;
    damaged[at] = static_cast<char>(log_[at] ^ static_cast<char>(1 + at * 37 % 255));
    look_at(damaged);
    ASSERT_FALSE(HasFailure());
  }
  std::printf("[   DAMAGE ] flipped bytes, log: %d misses, %d hits\n", misses_, hits_);
  EXPECT_GT(misses_, 100);
}

TEST_F(DamagedLogTest, CutOff) {
  for (std::size_t size = 0; size < log_.size(); size += 64 * k_step + 1) {
    SCOPED_TRACE("size " + std::to_string(size));
    look_at(log_.substr(0, size));
    ASSERT_FALSE(HasFailure());
  }
  std::printf("[   DAMAGE ] lengths, log: %d misses, %d hits\n", misses_, hits_);
  look_at(log_);
  EXPECT_EQ(hits_, 1) << "it is found with the whole log only";
}

INSTANTIATE_TEST_SUITE_P(Cache, DamageTest, ::testing::Values(As::cache, As::read_only_cache, As::pack),
                         [](const auto& test) { return std::string(name_of(test.param)); });

}  // namespace
}  // namespace kiln::cache
