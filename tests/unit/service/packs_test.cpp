// Packs before the user cache: good ones, broken ones, and many.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <vector>

#include "kiln/maintenance.hpp"
#include "service_fixture.hpp"

namespace kiln::test {
namespace {

class Packs : public ServiceTest {
 protected:
  /// A pack of the kernels, and of nothing else; the cache is empty afterwards.
  std::filesystem::path make(const std::string& name, const std::vector<int>& numbers) {
    std::filesystem::remove_all(folder_ / "cache");
    Service service(options());
    for (int n : numbers) {
      ask(service, n);
    }
    export_cache(options(), folder_ / name);
    std::filesystem::remove_all(folder_ / "cache");
    return folder_ / name;
  }
  ServiceOptions with(const std::vector<std::filesystem::path>& packs) {
    ServiceOptions options = this->options();
    options.packs = packs;
    return options;
  }
  /// A service with a broken pack before a good one of kernel 1: it goes on, says it once, and shows it.
  void expect_skipped(const std::filesystem::path& broken, const std::filesystem::path& good) {
    Service service(with({broken, good}));
    EXPECT_EQ(ask(service, 1).outcome, Outcome::pack);
    EXPECT_EQ(ask(service, 2).outcome, Outcome::compiled);
    EXPECT_EQ(ask(service, 3).outcome, Outcome::compiled);
    EXPECT_EQ(ask(Service(with({broken, good})), 2).outcome, Outcome::disk) << "the user cache serves behind it";
    const Stats stats = service.stats();
    EXPECT_EQ(stats.degraded, 1U);
    EXPECT_EQ(stats.puts_lost, 0U);
    ASSERT_EQ(stats.layers.size(), 3U);
    EXPECT_TRUE(stats.layers[0].degraded);
    EXPECT_NE(stats.layers[0].trouble, "");
    EXPECT_FALSE(stats.layers[1].degraded);
    EXPECT_EQ(stats.layers[1].hits, 1U);
    EXPECT_EQ(messages_.count(), 2U) << "once by each of the two services";
    EXPECT_EQ(messages_.count_with(broken.string()), 2U);
  }
};

TEST_F(Packs, FirstHitWinsAndOnlyTheCacheIsWritten) {
  const auto first = make("first.kilnpack", {1, 2});
  const auto second = make("second.kilnpack", {2, 3});
  const std::string before = read_file(first) + read_file(second);
  Service service(with({first, second}));
  for (int n : {1, 2, 3}) {
    EXPECT_EQ(ask(service, n).outcome, Outcome::pack);
  }
  EXPECT_EQ(ask(service, 4).outcome, Outcome::compiled);
  const Stats stats = service.stats();
  EXPECT_EQ(stats.layers.at(0).hits, 2U);
  EXPECT_EQ(stats.layers.at(1).hits, 1U);
  EXPECT_EQ(stats.layers.at(2).entries, 1U);
  EXPECT_EQ(read_file(first) + read_file(second), before);
}

TEST_F(Packs, Truncated) {
  const auto good = make("good.kilnpack", {1});
  const auto broken = make("broken.kilnpack", {1, 2, 3});
  std::filesystem::resize_file(broken, std::filesystem::file_size(broken) / 8192 * 4096);
  expect_skipped(broken, good);
}

TEST_F(Packs, Empty) {
  const auto good = make("good.kilnpack", {1});
  write_file(folder_ / "broken.kilnpack", "");
  std::filesystem::permissions(folder_ / "broken.kilnpack", std::filesystem::perms(0600));
  expect_skipped(folder_ / "broken.kilnpack", good);
}

TEST_F(Packs, Garbage) {
  const auto good = make("good.kilnpack", {1});
  write_file(folder_ / "broken.kilnpack", std::string(50'000, 'g'));
  std::filesystem::permissions(folder_ / "broken.kilnpack", std::filesystem::perms(0600));
  expect_skipped(folder_ / "broken.kilnpack", good);
}

TEST_F(Packs, Missing) {
  const auto good = make("good.kilnpack", {1});
  expect_skipped(folder_ / "missing.kilnpack", good);
}

TEST_F(Packs, WritableByOthers) {
  const auto good = make("good.kilnpack", {1});
  const auto open = make("open.kilnpack", {1, 2});
  std::filesystem::permissions(open, std::filesystem::perms(0666));
  expect_skipped(open, good);
}

TEST_F(Packs, OwnedByAnother) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  const auto good = make("good.kilnpack", {1});
  const auto foreign = make("foreign.kilnpack", {1, 2});
  ASSERT_EQ(::chown(foreign.c_str(), 54323, 54323), 0);
  expect_skipped(foreign, good);
}

TEST_F(Packs, VanishedUnderARunningService) {
  const auto good = make("good.kilnpack", {1});
  const auto vanishing = make("vanishing.kilnpack", {2, 3});
  Service service(with({vanishing, good}));
  EXPECT_EQ(ask(service, 2).outcome, Outcome::pack);
  std::filesystem::remove(vanishing);
  // What is open stays readable; a service made later is without it.
  EXPECT_EQ(ask(service, 3).outcome, Outcome::pack);
  EXPECT_EQ(ask(service, 1).outcome, Outcome::pack);
  EXPECT_EQ(messages_.count(), 0U);
  expect_skipped(vanishing, good);
}

TEST_F(Packs, TruncatedUnderARunningService) {
  const auto good = make("good.kilnpack", {1});
  const auto shrinking = make("shrinking.kilnpack", {2, 3, 4, 5, 6, 7, 8});
  Service service(with({shrinking, good}));
  EXPECT_EQ(ask(service, 2).outcome, Outcome::pack);
  std::filesystem::resize_file(shrinking, 4096);
  for (int n = 3; n <= 8; ++n) {
    EXPECT_NE(ask(service, n).artifact, nullptr);
  }
  EXPECT_EQ(ask(service, 1).outcome, Outcome::pack);
  EXPECT_EQ(service.stats().puts_lost, 0U);
  EXPECT_LE(messages_.count(), 2U);
}

TEST_F(Packs, ADamagedRowIsAMissAndCounted) {
  const auto pack = make("pack.kilnpack", {1});
  std::string bytes = read_file(pack);
  const Artifact artifact = *ask(Service(with({pack})), 1).artifact;
  // The image hardly shrinks, so a piece of it can be found.
  const std::string piece(reinterpret_cast<const char*>(artifact.image.data()) + 1000, 16);
  const std::size_t at = bytes.find(piece);
  ASSERT_NE(at, std::string::npos);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  write_file(pack, bytes);
  Service service(with({pack}));
  EXPECT_EQ(ask(service, 1).outcome, Outcome::compiled);
  EXPECT_EQ(service.stats().corrupt_dropped, 1U);
  EXPECT_EQ(messages_.count(), 1U);
  EXPECT_EQ(ask(Service(with({pack})), 1).outcome, Outcome::disk);
}

TEST_F(Packs, AHundredAreOpenedAndAMissCostsLookUpsOnly) {
  const auto one = make("pack0.kilnpack", {1});
  std::vector<std::filesystem::path> packs{one};
  for (int i = 1; i < 100; ++i) {
    packs.push_back(folder_ / ("pack" + std::to_string(i) + ".kilnpack"));
    std::filesystem::copy_file(one, packs.back());
  }
  std::filesystem::remove(packs.back());
  std::filesystem::rename(make("last.kilnpack", {2}), packs.back());
  Service service(with(packs));
  EXPECT_EQ(ask(service, 1).outcome, Outcome::pack);
  EXPECT_EQ(ask(service, 2).outcome, Outcome::pack) << "found in the last of them";
  const Clock::time_point begin = Clock::now();
  constexpr int k_misses = 50;
  for (int n = 0; n < k_misses; ++n) {
    EXPECT_EQ(service.find(sample_, {{"n", 1000 + n}}, target_).outcome, Outcome::miss);
  }
  const auto per_pack = (Clock::now() - begin) / (k_misses * 100);
  EXPECT_LT(per_pack, std::chrono::microseconds(500)) << "a look-up takes some microseconds, an opening hundreds";
  EXPECT_EQ(service.stats().degraded, 0U);
}

}  // namespace
}  // namespace kiln::test
