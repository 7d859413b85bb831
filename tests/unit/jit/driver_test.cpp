#include "jit/driver.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <thread>
#include <tuple>
#include <vector>

#include "jit/driver_api.hpp"
#include "kiln/error.hpp"
#include "unit/jit/fake_driver.hpp"

namespace kiln::jit {
namespace {

using test::AnyFakeDriverTest;
using test::FakeDriverTest;
using ::testing::HasSubstr;

template <typename Function>
std::string message_of(ErrorCode code, Function function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(name_of(error.code()), std::string(name_of(code))) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(DriverFiles, NamesEveryFileTriedWhenNoneOpens) {
  std::string message = message_of(ErrorCode::driver_unavailable, [] {
    Driver::open_files({"/nonexistent/libcuda.so.1", "libkiln-no-such-driver.so"});
  });
  EXPECT_THAT(message, HasSubstr("/nonexistent/libcuda.so.1"));
  EXPECT_THAT(message, HasSubstr("libkiln-no-such-driver.so"));
  EXPECT_THAT(message, HasSubstr("install an NVIDIA driver"));
}

TEST(DriverFiles, ALibraryThatIsNoDriverIsRefusedByName) {
  std::string message = message_of(ErrorCode::driver_unavailable, [] { Driver::open_files({"libm.so.6"}); });
  EXPECT_THAT(message, HasSubstr("libm.so.6"));
}

TEST(DriverFiles, TakesTheFirstThatOpens) {
  test::FakeCuda& fake = test::load_fake_cuda(test::k_fake_cuda);
  auto driver = Driver::open_files({"/nonexistent/libcuda.so.1", test::k_fake_cuda, test::k_fake_cuda_11});
  EXPECT_EQ(driver->path(), test::k_fake_cuda);
  EXPECT_EQ(driver->version(), fake.version);
}

using DriverTest = FakeDriverTest;

TEST_F(DriverTest, OpeningCallsNothingButInitAndOnlyOnce) {
  open();
  EXPECT_EQ(fake.calls, (std::map<std::string, int>{{"cuInit", 1}}));
}

TEST_F(DriverTest, RefusesAnOldDriverNamingBothVersions) {
  fake.version = 11040;
  std::string message = message_of(ErrorCode::driver_unavailable, [this] { open(); });
  EXPECT_THAT(message, HasSubstr("11.4"));
  EXPECT_THAT(message, HasSubstr("11.8"));
  EXPECT_EQ(fake.calls["cuInit"], 0);
}

TEST_F(DriverTest, NamesAMissingEntryPoint) {
  fake.missing = {"cuStreamIsCapturing"};
  EXPECT_THAT(message_of(ErrorCode::driver_unavailable, [this] { open(); }), HasSubstr("lacks cuStreamIsCapturing"));
}

TEST_F(DriverTest, MissingNewerEntryPointsAreNoError) {
  fake.missing = {"cuCtxGetId", "cuFuncGetParamInfo", "cuFuncLoad", "cuLibraryGetGlobal"};
  auto driver = open();
  EXPECT_EQ(driver->api().func_get_param_info, nullptr);
  EXPECT_FALSE(driver->api().has_libraries());
}

TEST_F(DriverTest, SaysWhatAFailedInitMeans) {
  const std::tuple<int, ErrorCode, const char*> cases[] = {
      {k_cuda_no_device, ErrorCode::no_device, "CUDA_VISIBLE_DEVICES"},
      {k_cuda_device_unavailable, ErrorCode::no_device, "CUDA_ERROR_DEVICE_UNAVAILABLE (46)"},
      {k_cuda_stub_library, ErrorCode::driver_unavailable, "stub"},
      {k_cuda_system_driver_mismatch, ErrorCode::driver_unavailable, "reboot"},
      {k_cuda_not_initialized, ErrorCode::driver_unavailable, "forked"},
      {999, ErrorCode::driver_unavailable, "unknown CUDA error (999)"}};
  for (const auto& [result, code, text] : cases) {
    fake.failures["cuInit"] = result;
    EXPECT_THAT(message_of(code, [this] { open(); }), HasSubstr(text));
  }
}

TEST_F(DriverTest, AFailedOpenMayBeRepeated) {
  fake.failures["cuInit"] = k_cuda_no_device;
  EXPECT_THROW(open(), Error);
  fake.failures.clear();
  EXPECT_NE(open(), nullptr);
}

TEST_F(DriverTest, TheTargetIsThatOfTheCurrentContextsDevice) {
  auto driver = open();
  EXPECT_EQ(driver->current_target(), Target::cubin(90));
  fake.set_current(fake.create_context(1));
  EXPECT_EQ(driver->current_target(), Target::cubin(80));
}

TEST_F(DriverTest, AContextMadeAnewHasAnotherId) {
  auto driver = open();
  ContextId first = driver->current_context();
  EXPECT_EQ(first.handle, context);
  EXPECT_EQ(driver->current_context(), first);
  fake.destroy_context(context);
  fake.set_current(fake.create_context(0));
  EXPECT_NE(driver->current_context().id, first.id);
}

TEST_F(DriverTest, AFailedQueryNamesTheCall) {
  auto driver = open();
  fake.failures["cuDeviceGetAttribute"] = 1;
  try {
    driver->current_target();
    FAIL();
  } catch (const DriverError& error) {
    EXPECT_EQ(error.call(), "cuDeviceGetAttribute");
    EXPECT_EQ(error.object(), "device 0");
    EXPECT_EQ(error.result_name(), "CUDA_ERROR_INVALID_VALUE");
  }
}

// Driver::open is about the process's one driver, so each test has a process of its own. The fake is opened first: it
// is called libcuda.so.1 too, so the loader then gives it for that name.
class ProcessDriverDeathTest : public FakeDriverTest {
 protected:
  ProcessDriverDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ProcessDriverDeathTest, IsOpenedAtTheFirstUseAndOnlyOnceAmongThreads) {
  EXPECT_EXIT(
      {
        bool good = !Driver::opened() && fake.calls["cuInit"] == 0;
        std::vector<std::thread> threads;
        std::vector<std::shared_ptr<const Driver>> drivers(8);
        for (auto& driver : drivers) {
          threads.emplace_back([&driver] { driver = Driver::open(); });
        }
        for (std::thread& thread : threads) {
          thread.join();
        }
        for (const auto& driver : drivers) {
          good = good && driver != nullptr && driver == drivers[0];
        }
        std::exit(good && Driver::opened() && fake.calls["cuInit"] == 1 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST_F(ProcessDriverDeathTest, AFailedAttemptIsNotRemembered) {
  EXPECT_EXIT(
      {
        fake.failures["cuInit"] = k_cuda_no_device;
        bool failed = false;
        try {
          Driver::open();
        } catch (const Error& error) {
          failed = error.code() == ErrorCode::no_device;
        }
        bool closed = !Driver::opened();
        fake.failures.clear();
        Driver::open();
        std::exit(failed && closed && Driver::opened() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(Fakes, AnyFakeDriverTest, test::both_fakes(), test::fake_name);

TEST_P(AnyFakeDriverTest, WithoutAContextSaysHowToGetOne) {
  auto driver = open();
  fake.set_current(nullptr);
  EXPECT_THAT(message_of(ErrorCode::no_device, [&] { driver->current_context(); }), HasSubstr("cudaSetDevice"));
  EXPECT_THAT(message_of(ErrorCode::no_device, [&] { driver->current_target(); }), HasSubstr("cudaSetDevice"));
  EXPECT_FALSE(driver->capture_active());
}

TEST_P(AnyFakeDriverTest, TellsContextsApart) {
  auto driver = open();
  ContextId first = driver->current_context();
  fake.set_current(fake.create_context(1));
  EXPECT_NE(driver->current_context(), first);
}

TEST_P(AnyFakeDriverTest, SeesACaptureOfABlockingStreamAndLeavesItIntact) {
  auto driver = open();
  EXPECT_FALSE(driver->capture_active());
  fake.set_capturing(context, true);
  EXPECT_TRUE(driver->capture_active());
  EXPECT_FALSE(fake.capture_broken);
}

}  // namespace
}  // namespace kiln::jit
