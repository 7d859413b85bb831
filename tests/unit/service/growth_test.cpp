// The cache stays below its cap, keeps what is used, and takes no harm from a clock that is wrong.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>

#include "kiln/maintenance.hpp"
#include "service_fixture.hpp"
#include "support/raw_database.hpp"

namespace kiln::test {
namespace {

constexpr std::size_t k_image_bytes = 20'000;
constexpr std::uint64_t k_max_bytes = 1'000'000;  // some forty kernels
constexpr int k_year = 365 * 24 * 3600;

class Growth : public ServiceTest {
 protected:
  Growth() { nvrtc_.set_image_bytes(k_image_bytes); }
  ServiceOptions capped() {
    ServiceOptions options = this->options();
    options.max_bytes = k_max_bytes;
    return options;
  }
  void execute(const std::string& sql) { RawDatabase(database()).execute(sql); }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder_ / "cache")) {
      sum += file.path().extension() == ".db" ? std::filesystem::file_size(file) : 0;
    }
    return sum;
  }
};

TEST_F(Growth, TenTimesTheCapStaysBelowIt) {
  {
    Service service(capped());
    for (int n = 0; n < 500; ++n) {
      ASSERT_EQ(ask(service, n).outcome, Outcome::compiled);
    }
    const Stats stats = service.stats();
    EXPECT_EQ(stats.puts, 500U);
    EXPECT_EQ(stats.puts_lost, 0U);
    EXPECT_GT(stats.evicted, 400U);
    EXPECT_LE(stats.layers.at(0).bytes, k_max_bytes);
    EXPECT_GT(stats.layers.at(0).entries, 20U) << "but it is used";
    EXPECT_EQ(ask_anew(499), Outcome::disk) << "the newest is kept";
    EXPECT_EQ(service.find(sample_, {{"n", 0}}, target_).outcome, Outcome::memory);
  }
  EXPECT_LE(bytes(), k_max_bytes);
  EXPECT_EQ(RawDatabase(database()).integrity(), "ok");
}

TEST_F(Growth, WhatWasUsedLastStays) {
  Service service(capped());
  for (int n = 0; n < 20; ++n) {
    ask(service, n);
  }
  // Two days ago all were used; since then, kernel 3 alone.
  execute("UPDATE artifacts SET last_used = last_used - 172800");
  EXPECT_EQ(ask_anew(3), Outcome::disk);
  for (int n = 100; service.stats().evicted == 0; ++n) {
    ASSERT_LT(n, 200);
    ask(service, n);
  }
  EXPECT_EQ(ask_anew(3), Outcome::disk);
  EXPECT_EQ(ask_anew(0), Outcome::compiled);
}

// Rows that were used "next year", before the clock was set back, must not push out what is used now.
TEST_F(Growth, AClockSetBackLeavesTheCacheUsable) {
  {
    Service service(capped());
    for (int n = 0; n < 30; ++n) {
      ask(service, n);
    }
  }
  execute("UPDATE artifacts SET last_used = last_used + " + std::to_string(k_year));
  Service service(capped());
  for (int n = 100; n < 160; ++n) {
    ASSERT_EQ(ask(service, n).outcome, Outcome::compiled);
  }
  const Stats stats = service.stats();
  EXPECT_EQ(stats.puts_lost, 0U);
  EXPECT_LT(stats.evicted, 80U) << "in batches, no storm";
  int kept = 0;
  for (int n = 140; n < 160; ++n) {
    kept += ask(Service(capped()), n).outcome == Outcome::disk ? 1 : 0;
  }
  EXPECT_EQ(kept, 20) << "what was compiled since is kept rather than what is from next year";
  EXPECT_EQ(messages_.count(), 0U);
}

TEST_F(Growth, AHitBringsATimeFromTheFutureBack) {
  ask_anew(1);
  execute("UPDATE artifacts SET last_used = last_used + " + std::to_string(k_year));
  EXPECT_EQ(ask_anew(1), Outcome::disk);
  const std::string last_used = RawDatabase(database()).text("SELECT last_used FROM artifacts");
  // Not std::time: its clock is some milliseconds behind this one, so that a second may not have begun there.
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  EXPECT_LE(std::stoll(last_used), now.time_since_epoch().count());
}

TEST_F(Growth, TimesBeyondReasonAreNoError) {
  for (const char* when : {"-9223372036854775808", "-1", "0", "9223372036854775807"}) {
    ask_anew(1);
    execute(std::string("UPDATE artifacts SET last_used = ") + when);
    EXPECT_EQ(ask_anew(1), Outcome::disk) << when;
    trim(capped(), {.unused_for = std::chrono::hours(24), .dry_run = true});
  }
  EXPECT_EQ(messages_.count(), 0U);
}

TEST_F(Growth, TrimTellsWhatItWouldRemoveAndRemovesThat) {
  for (int n = 0; n < 5; ++n) {
    ask_anew(n);
  }
  execute("UPDATE artifacts SET last_used = last_used - 864000 WHERE id <= 2");
  const TrimOptions old{.unused_for = std::chrono::hours(24 * 7)};
  TrimOptions dry = old;
  dry.dry_run = true;
  EXPECT_EQ(trim(options(), dry).removed.size(), 2U);
  EXPECT_EQ(Service(options()).query(Query{}).size(), 5U);
  EXPECT_EQ(trim(options(), old).removed.size(), 2U);
  EXPECT_EQ(Service(options()).query(Query{}).size(), 3U);
}

// Reading a file changes its access time on many file systems, and on others it does not: neither counts.
TEST_F(Growth, AccessTimesDoNotCount) {
  ask_anew(1);
  const std::string before = RawDatabase(database()).text("SELECT last_used FROM artifacts");
  const timespec times[2]{{1, 0}, {0, UTIME_OMIT}};
  ASSERT_EQ(utimensat(AT_FDCWD, database().c_str(), times, 0), 0);
  EXPECT_EQ(ask_anew(1), Outcome::disk);
  EXPECT_EQ(RawDatabase(database()).text("SELECT last_used FROM artifacts"), before);
}

}  // namespace
}  // namespace kiln::test
