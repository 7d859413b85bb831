// From the cache into the driver: images that it rejects, and which device and context a kernel is for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "kiln/maintenance.hpp"
#include "service_fixture.hpp"
#include "unit/jit/fake_driver.hpp"

namespace kiln::test {
namespace {

constexpr int k_no_binary = 209;
constexpr int k_invalid_image = 200;
constexpr const char* k_load = "cuLibraryLoadData";

/// CTest runs each test in a process of its own: it has one driver, the fake of CUDA 13.0.
class Loading : public ServiceTest {
 protected:
  Loading() {
    fake_.devices = {{8, 0}, {9, 0}};
    fake_.kernels["sample"] = {8};
    fake_.set_current(fake_.create_context(0));
  }
  Kernel load(const Service& service, int n) const { return service.get(sample_, {{"n", n}}); }
  void reject(int result, int times) {
    fake_.failures[k_load] = result;
    fake_.failures_left[k_load] = times;
  }
  /// Also when it is loaded in spite of it.
  std::string rejection_of(const Service& service, int n) const {
    try {
      load(service, n);
      return "loaded";
    } catch (const DriverError& error) {
      return error.call() + " " + error.result_name() + " " + error.object();
    }
  }

  FakeCuda& fake_ = load_fake_cuda(k_fake_cuda);
};

TEST_F(Loading, ARejectedRowIsDroppedAndCompiledOnce) {
  for (int result : {k_no_binary, k_invalid_image}) {
    std::filesystem::remove_all(folder_ / "cache");
    ask_anew(1);
    const std::size_t compiles = nvrtc_.compiles();
    const std::size_t said = messages_.count();
    Service service(options());
    reject(result, 1);
    load(service, 1);
    EXPECT_EQ(nvrtc_.compiles(), compiles + 1);
    const Stats stats = service.stats();
    EXPECT_EQ(stats.hits, 1U);
    EXPECT_EQ(stats.compiles, 1U);
    EXPECT_EQ(stats.corrupt_dropped, 1U);
    EXPECT_EQ(stats.puts, 1U);
    EXPECT_EQ(messages_.count(), said + 1);
    EXPECT_EQ(messages_.count_with("sample.cu"), said + 1);
    EXPECT_EQ(service.query(Query{}).size(), 1U) << "the row compiled anew";
    EXPECT_EQ(ask_anew(1), Outcome::disk);
  }
}

TEST_F(Loading, WhatIsRejectedTwiceIsAnErrorThatNamesIt) {
  ask_anew(1);
  const std::size_t compiles = nvrtc_.compiles();
  Service service(options());
  fake_.failures[k_load] = k_no_binary;
  for (int i = 0; i < 5; ++i) {
    const std::string rejection = rejection_of(service, 1);
    EXPECT_THAT(rejection, testing::HasSubstr("cuLibraryLoadData CUDA_ERROR_NO_BINARY_FOR_GPU"));
    EXPECT_THAT(rejection, testing::HasSubstr("sample.cu for sm_80"));
  }
  EXPECT_EQ(nvrtc_.compiles(), compiles + 1) << "compiled once more, and not again at each request";
  fake_.failures.clear();
  EXPECT_EQ(rejection_of(service, 1), "loaded") << "but tried each time";
}

TEST_F(Loading, WhatWasJustCompiledIsNotCompiledAgain) {
  Service service(options());
  fake_.failures[k_load] = k_invalid_image;
  EXPECT_NE(rejection_of(service, 1), "loaded");
  EXPECT_NE(rejection_of(service, 1), "loaded");
  EXPECT_EQ(nvrtc_.compiles(), 1U);
}

TEST_F(Loading, TheDevicesTroubleDropsNothing) {
  ask_anew(1);
  const std::size_t compiles = nvrtc_.compiles();
  Service service(options());
  fake_.failures[k_load] = 2;  // out of memory
  EXPECT_NE(rejection_of(service, 1), "loaded");
  EXPECT_EQ(nvrtc_.compiles(), compiles);
  EXPECT_EQ(service.stats().corrupt_dropped, 0U);
  EXPECT_EQ(ask_anew(1), Outcome::disk);
}

TEST_F(Loading, ARowThatAnotherProcessHasCompiledAnewIsTaken) {
  ask_anew(1);
  Service service(options());
  ASSERT_EQ(ask(service, 1).outcome, Outcome::disk);             // holds the old image
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // rows know when they were made, in seconds
  Service(options()).clear();
  ask_anew(1);
  const std::size_t compiles = nvrtc_.compiles();
  reject(k_no_binary, 1);
  load(service, 1);
  EXPECT_EQ(nvrtc_.compiles(), compiles);
  EXPECT_EQ(service.query(Query{}).size(), 1U);
}

TEST_F(Loading, ARejectedRowOfAPackIsCompiledOnceForAllProcesses) {
  ask_anew(1);
  export_cache(options(), folder_ / "made.kilnpack");
  std::filesystem::remove_all(folder_ / "cache");
  ServiceOptions with_pack = options();
  with_pack.packs = {folder_ / "made.kilnpack"};
  const std::size_t compiles = nvrtc_.compiles();
  for (int process = 0; process < 3; ++process) {
    Service service(with_pack);
    reject(k_no_binary, 1);
    load(service, 1);
    EXPECT_EQ(service.stats().compiles, process == 0 ? 1U : 0U);
  }
  EXPECT_LE(nvrtc_.compiles(), compiles + 2) << "one, and one to tell which compiler it is";
}

TEST_F(Loading, NativeIsACubinForTheCurrentDeviceAtEachRequest) {
  Service service(options());
  const Kernel first = load(service, 1);
  EXPECT_EQ(first.artifact().target, Target::parse("sm_80"));
  EXPECT_EQ(first.artifact().kind, ImageKind::cubin);
  fake_.set_current(fake_.create_context(1));
  EXPECT_EQ(load(service, 1).artifact().target, Target::parse("sm_90"));
  EXPECT_EQ(nvrtc_.compiles(), 2U);
}

TEST_F(Loading, EachContextHasItsOwnKernel) {
  Service service(options());
  CUctx_st* first = fake_.create_context(0);
  CUctx_st* second = fake_.create_context(0);
  fake_.set_current(first);
  const Kernel in_first = load(service, 1);
  fake_.set_current(second);
  const Kernel in_second = load(service, 1);
  EXPECT_NE(in_first.function(), in_second.function());
  EXPECT_EQ(fake_.images, 2);
  in_second.launch({}, std::uint64_t{0});
  fake_.set_current(first);
  EXPECT_EQ(load(service, 1).function(), in_first.function());
  in_first.launch({}, std::uint64_t{0});

  // As cudaDeviceReset does: the same device, another context.
  fake_.destroy_context(first);
  fake_.set_current(fake_.create_context(0));
  const Kernel anew = load(service, 1);
  EXPECT_NE(anew.function(), in_first.function());
  anew.launch({}, std::uint64_t{0});
  EXPECT_EQ(nvrtc_.compiles(), 1U);
}

TEST_F(Loading, ASecondRequestLoadsNothing) {
  Service service(options());
  load(service, 1);
  const int loads = fake_.calls[k_load];
  for (int i = 0; i < 10; ++i) {
    load(service, 1);
  }
  EXPECT_EQ(fake_.calls[k_load], loads);
}

TEST_F(Loading, AnotherDevicesSuffixedCubinNeverReachesTheDriver) {
  Service service(options());
  for (const char* target : {"sm_90a", "sm_100f"}) {
    EXPECT_THROW(service.get(sample_, {{"n", 1}}, Target::parse(target)), Error) << target;
  }
  EXPECT_EQ(fake_.calls[k_load], 0);
}

}  // namespace
}  // namespace kiln::test
