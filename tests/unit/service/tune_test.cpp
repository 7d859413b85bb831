// Measured choices: kernels timed on a device that takes as long for them as a test says, and what the cache remembers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "kiln/permuter.hpp"
#include "service_fixture.hpp"
#include "support/raw_database.hpp"
#include "unit/jit/fake_driver.hpp"

namespace kiln::test {
namespace {

using testing::HasSubstr;

constexpr unsigned k_direct_threads = 256;
constexpr unsigned k_bucketed_threads = 512;

/// CTest runs each test in a process of its own: it has one driver, the fake of CUDA 13.0. Expected of the map: staged,
/// then bucketed, then direct.
class Tune : public ServiceTest {
 protected:
  Tune() {
    fake_.devices = {{9, 0}, {9, 0, "Another GPU"}};
    fake_.kernels["permute"] = {8, 8, 8};
    fake_.kernels["permute_bucketed"] = {8, 8, 8, 8, 8, 4};
    fake_.variables["kiln_table"] = std::vector<std::byte>(1 << 20);
    fake_.set_current(fake_.create_context(0));
    take({.staged_us = 100, .direct_us = 100, .bucketed_us = 100});
  }

  struct Times {
    double staged_us;
    double direct_us;
    double bucketed_us;
  };
  void take(const Times& times) {
    fake_.launch_us = [times](const FakeCuda::Launch& launch) {
      return launch.block.x == k_direct_threads     ? times.direct_us
             : launch.block.x == k_bucketed_threads ? times.bucketed_us
                                                    : times.staged_us;
    };
  }

  static IndexMap map_of(std::uint32_t size) {
    std::vector<std::uint32_t> sources(size);
    std::iota(sources.begin(), sources.end(), 0U);
    std::shuffle(sources.begin(), sources.end(), std::mt19937(3));
    return {std::span<const std::uint32_t>(sources), size};
  }
  std::string tuned(const Service& service, const PermuteShape& shape = {}) const {
    return Permuter(service).tune(map_, shape).strategy();
  }
  std::string tuned_anew(const PermuteShape& shape = {}) { return tuned(Service(options()), shape); }
  /// How many launches `tuned_anew` makes.
  std::size_t launches_of(const PermuteShape& shape = {}) {
    const std::size_t before = fake_.launches.size();
    tuned_anew(shape);
    return fake_.launches.size() - before;
  }
  void expect_nothing_left() const {
    EXPECT_EQ(fake_.stream_bytes, 0U);
    EXPECT_EQ(fake_.events, 0);
    EXPECT_EQ(fake_.streams, 0);
  }

  FakeCuda& fake_ = load_fake_cuda(k_fake_cuda);
  const IndexMap map_ = map_of(36);
};

TEST_F(Tune, TakesWhatIsFastest) {
  take({.staged_us = 100, .direct_us = 50, .bucketed_us = 200});
  EXPECT_EQ(tuned_anew(), "direct");
  expect_nothing_left();
  EXPECT_LE(fake_.most_stream_bytes, std::size_t{1} << 30);
  EXPECT_GE(fake_.most_stream_bytes, std::size_t{200} << 20) << "enough rows to keep a device busy";
  EXPECT_EQ(nvrtc_.compiles(), 3U);
  take({.staged_us = 300, .direct_us = 100, .bucketed_us = 20});
  EXPECT_EQ(tuned_anew({.element_bytes = 8}), "bucketed");
  take({.staged_us = 10, .direct_us = 100, .bucketed_us = 100});
  EXPECT_EQ(tuned_anew({.element_bytes = 2}), "staged");
  expect_nothing_left();
}

TEST_F(Tune, TakesWhatIsExpectedWhereNothingIsFasterByMoreThanMeasurementsRepeat) {
  take({.staged_us = 100, .direct_us = 98, .bucketed_us = 99});
  EXPECT_EQ(tuned_anew(), "staged");
}

TEST_F(Tune, WhatDisturbsATurnDecidesNothing) {
  int launches = 0;
  fake_.launch_us = [&](const FakeCuda::Launch& launch) {
    const bool disturbed = ++launches % 23 == 0;
    return (launch.block.x == k_direct_threads ? 60.0 : 100.0) + (disturbed ? 5000 : 0);
  };
  EXPECT_EQ(tuned_anew(), "direct");
}

TEST_F(Tune, LaterProcessesMeasureNothing) {
  take({.staged_us = 100, .direct_us = 50, .bucketed_us = 200});
  EXPECT_EQ(tuned_anew(), "direct");
  take({.staged_us = 10, .direct_us = 50, .bucketed_us = 200});
  EXPECT_EQ(launches_of(), 0U);
  EXPECT_EQ(tuned_anew(), "direct");
  EXPECT_EQ(nvrtc_.compiles(), 3U);
  EXPECT_EQ(Service(options()).stats().layers.back().tunings, 1U);
}

TEST_F(Tune, AServiceAsksItsCacheOnce) {
  Service service(options());
  const Permuter permuter(service);
  permuter.tune(map_);
  const std::size_t launches = fake_.launches.size();
  RawDatabase(database()).execute("DELETE FROM tunings");
  permuter.tune(map_);
  EXPECT_EQ(fake_.launches.size(), launches);
}

TEST_F(Tune, IsForAShapeADeviceAndAClassOfRows) {
  EXPECT_GT(launches_of({.typical_rows = 1000}), 0U);
  EXPECT_EQ(launches_of({.typical_rows = 1024}), 0U);
  EXPECT_EQ(launches_of({.typical_rows = 513}), 0U);
  EXPECT_GT(launches_of({.typical_rows = 512}), 0U);
  EXPECT_GT(launches_of({.typical_rows = 1025}), 0U);
  EXPECT_GT(launches_of({}), 0U);
  EXPECT_GT(launches_of({.inner = 3}), 0U);
  EXPECT_EQ(launches_of({.inner = 3}), 0U);
  fake_.set_current(fake_.create_context(1));
  EXPECT_GT(launches_of({.inner = 3}), 0U) << "the same architecture, another GPU";
  fake_.multiprocessors = 7;
  EXPECT_GT(launches_of({.inner = 3}), 0U) << "a part of it";
}

TEST_F(Tune, MeasuresAsManyRowsAsAreTypical) {
  tuned_anew({.typical_rows = 1000});
  for (const FakeCuda::Launch& launch : fake_.launches) {
    if (launch.block.x == k_direct_threads) {
      EXPECT_EQ(launch.grid.x, (1000U * 36 + 255) / 256);
    }
  }
  EXPECT_LT(fake_.most_stream_bytes, 2'000'000U);
}

TEST_F(Tune, MeasuresFewerRowsWhereThereIsLittleMemory) {
  fake_.memory_bytes = 1'000'000;
  take({.staged_us = 100, .direct_us = 50, .bucketed_us = 200});
  EXPECT_EQ(tuned_anew(), "direct");
  EXPECT_LE(fake_.most_stream_bytes, 1'000'000U);
  expect_nothing_left();
}

TEST_F(Tune, WithoutMemoryForOneRowIsAnErrorThatSaysWhatItWasFor) {
  fake_.memory_bytes = 100;
  try {
    tuned_anew();
    ADD_FAILURE() << "was measured";
  } catch (const DriverError& error) {
    EXPECT_EQ(error.call(), "cuMemAllocAsync");
    EXPECT_THAT(error.object(), HasSubstr("to measure permute kernels with"));
  }
  expect_nothing_left();
  fake_.memory_bytes = 1'000'000;
  EXPECT_EQ(tuned_anew(), "staged") << "nothing was remembered";
}

TEST_F(Tune, LeavesNothingWhereTheDriverFails) {
  for (const char* call : {"cuStreamCreate", "cuEventCreate", "cuEventRecord", "cuMemAllocAsync", "cuLaunchKernel",
                           "cuStreamSynchronize", "cuEventElapsedTime"}) {
    tuned(Service(options()), {.strategy = PermuteStrategy::direct});  // the kernels are loaded by then
    Service service(options());
    const Permuter permuter(service);
    for (const PermuteStrategy strategy :
         {PermuteStrategy::staged, PermuteStrategy::direct, PermuteStrategy::bucketed}) {
      permuter.get(map_, {.strategy = strategy});
    }
    fake_.failures[call] = 719;
    EXPECT_THROW(permuter.tune(map_), DriverError) << call;
    fake_.failures.clear();
    expect_nothing_left();
    EXPECT_EQ(service.stats().layers.back().tunings, 0U) << call;
  }
}

TEST_F(Tune, DoesNotDisturbACapture) {
  Service service(options());
  const Permuter permuter(service);
  const auto refusal = [&] {
    try {
      permuter.tune(map_);
      return std::string("tuned");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::capture_active);
      return std::string(error.what());
    }
  };
  fake_.set_capturing(fake_.current(), true);
  EXPECT_THAT(refusal(), HasSubstr("call tune() once before the capture begins"));
  EXPECT_FALSE(fake_.capture_broken);
  EXPECT_TRUE(fake_.launches.empty());
  expect_nothing_left();
  fake_.set_capturing(fake_.current(), false);
  EXPECT_EQ(refusal(), "tuned");
  fake_.set_capturing(fake_.current(), true);
  EXPECT_EQ(refusal(), "tuned") << "known";
  EXPECT_FALSE(fake_.capture_broken);
}

TEST_F(Tune, DoesNotDisturbACaptureThatTheDriverDoesNotTell) {
  fake_.hidden_capture = true;
  EXPECT_EQ(tuned_anew(), "staged");
  EXPECT_FALSE(fake_.capture_broken);
  EXPECT_EQ(fake_.capture_mode(), 0) << "as it was";
}

TEST_F(Tune, WhatIsRememberedAndCannotBeIsMeasuredAgain) {
  take({.staged_us = 100, .direct_us = 50, .bucketed_us = 200});
  tuned_anew();
  for (const char* word : {"quick", "tiled", "automatic", ""}) {
    RawDatabase(database()).execute("UPDATE tunings SET strategy = '" + std::string(word) + "'");
    const std::size_t said = messages_.count();
    Service service(options());
    EXPECT_EQ(tuned(service), "direct") << word;
    EXPECT_EQ(service.stats().corrupt_dropped, 1U);
    EXPECT_EQ(messages_.count(), said + 1);
    EXPECT_GT(messages_.count_with("'" + std::string(word) + "' as measured fastest"), 0U);
    EXPECT_EQ(RawDatabase(database()).text("SELECT strategy FROM tunings"), "direct");
    EXPECT_EQ(launches_of(), 0U);
  }
  RawDatabase(database()).execute("UPDATE tunings SET strategy = 'bucketed'");
  EXPECT_EQ(tuned_anew(), "bucketed") << "slower, but right: there is nothing to tell by";
}

TEST_F(Tune, WorksWithoutACache) {
  take({.staged_us = 100, .direct_us = 50, .bucketed_us = 200});
  ServiceOptions without = options();
  without.cache_mode = CacheMode::off;
  EXPECT_EQ(tuned(Service(without)), "direct");
  tuned_anew({.strategy = PermuteStrategy::direct});
  const std::string before = read_file(database());
  ServiceOptions read_only = options();
  read_only.cache_mode = CacheMode::read_only;
  EXPECT_EQ(tuned(Service(read_only)), "direct");
  EXPECT_EQ(read_file(database()), before);
  EXPECT_EQ(messages_.count(), 0U);
}

TEST_F(Tune, GoesOnWithADatabaseThatCannotBeUsed) {
  std::filesystem::create_directories(folder_ / "cache");
  std::filesystem::permissions(folder_ / "cache", std::filesystem::perms(0777));  // not trusted
  take({.staged_us = 100, .direct_us = 50, .bucketed_us = 200});
  Service service(options());
  EXPECT_EQ(tuned(service), "direct");
  EXPECT_EQ(service.stats().degraded, 1U);
}

TEST_F(Tune, TakesAStrategyThatIsGiven) {
  EXPECT_EQ(tuned_anew({.strategy = PermuteStrategy::direct}), "direct");
  EXPECT_TRUE(fake_.launches.empty());
}

TEST_F(Tune, MovesPitchedRowsAndRowsInPlaceAsGetDoes) {
  for (const PermuteShape& shape :
       {PermuteShape{.row_stride_in = 40}, PermuteShape{.row_stride_out = 40}, PermuteShape{.in_place = true}}) {
    EXPECT_EQ(tuned_anew(shape), Permuter(Service(options())).get(map_, shape).strategy());
  }
  EXPECT_TRUE(fake_.launches.empty());
}

TEST_F(Tune, MeasuresNothingWhereOnlyOneIsWorthIt) {
  const IndexMap few(std::vector<std::int64_t>{5, 100, 999}, 1000);
  EXPECT_EQ(Permuter(Service(options())).tune(few).strategy(), "direct");
  EXPECT_TRUE(fake_.launches.empty());
}

TEST_F(Tune, InStrictModeMeasuresWhatThereIs) {
  tuned_anew({.strategy = PermuteStrategy::direct});
  ServiceOptions strict = options();
  strict.strict = true;
  EXPECT_EQ(tuned(Service(strict)), "direct") << "the only one";
  EXPECT_TRUE(fake_.launches.empty());
  tuned_anew({.strategy = PermuteStrategy::staged});
  take({.staged_us = 20, .direct_us = 50, .bucketed_us = 10});
  EXPECT_EQ(tuned(Service(strict)), "staged");
  std::filesystem::remove_all(folder_ / "cache");
  EXPECT_THROW(tuned(Service(strict)), Error);
}

TEST_F(Tune, IsNotWhatGetLooksAt) {
  take({.staged_us = 100, .direct_us = 50, .bucketed_us = 200});
  Service service(options());
  const Permuter permuter(service);
  EXPECT_EQ(permuter.tune(map_).strategy(), "direct");
  EXPECT_EQ(permuter.get(map_).strategy(), "staged");
  EXPECT_EQ(permuter.tune(map_).strategy(), "direct");
}

}  // namespace
}  // namespace kiln::test
