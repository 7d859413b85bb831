#include "jit/stopwatch.hpp"

#include <gtest/gtest.h>

#include "jit/devices.hpp"
#include "kiln/error.hpp"
#include "unit/jit/fake_driver.hpp"

namespace kiln::jit {
namespace {

class DeviceStopwatchTest : public test::AnyFakeDriverTest {};

TEST_P(DeviceStopwatchTest, TellsWhatTheDeviceTook) {
  auto driver = open();
  {
    const DeviceStopwatch stopwatch(driver);
    EXPECT_NE(stopwatch.stream(), nullptr) << "not the application's default stream";
    EXPECT_EQ(stopwatch.milliseconds([] {}), 0);
    EXPECT_EQ(fake.events, 2);
  }
  EXPECT_EQ(fake.events, 0);
  EXPECT_EQ(fake.streams, 0);
}

TEST_P(DeviceStopwatchTest, LeavesNothingWhereItCannotBeMade) {
  auto driver = open();
  for (const char* call : {"cuStreamCreate", "cuEventCreate"}) {
    fake.failures[call] = 2;
    EXPECT_THROW(DeviceStopwatch{driver}, DriverError) << call;
    fake.failures.clear();
    EXPECT_EQ(fake.events, 0);
    EXPECT_EQ(fake.streams, 0);
  }
}

TEST_P(DeviceStopwatchTest, NeedsADriverWithEvents) {
  fake.missing = {"cuEventElapsedTime"};
  try {
    DeviceStopwatch stopwatch(open());
    ADD_FAILURE() << "was made";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::driver_unavailable);
    EXPECT_NE(std::string(error.what()).find("lacks cuEventElapsedTime"), std::string::npos) << error.what();
  }
  EXPECT_EQ(fake.streams, 0);
}

TEST_P(DeviceStopwatchTest, PassesOnWhatTheWorkThrows) {
  auto driver = open();
  const DeviceStopwatch stopwatch(driver);
  EXPECT_THROW(stopwatch.milliseconds([] { throw Error(ErrorCode::invalid_argument, "no"); }), Error);
  EXPECT_EQ(stopwatch.milliseconds([] {}), 0) << "as good as before";
}

TEST_P(DeviceStopwatchTest, TheDeviceIsTheCurrentContexts) {
  auto driver = open();
  fake.devices = {{9, 0, "First GPU"}, {8, 6, "Second GPU"}};
  fake.multiprocessors = 132;
  const std::string major = std::to_string(fake.version / 1000);
  EXPECT_EQ(current_device_text(*driver), "First GPU, sm_90, 132 multiprocessors, driver " + major);
  fake.set_current(fake.create_context(1));
  EXPECT_EQ(current_device_text(*driver), "Second GPU, sm_86, 132 multiprocessors, driver " + major);
  fake.set_current(nullptr);
  EXPECT_THROW(current_device_text(*driver), Error);
}

INSTANTIATE_TEST_SUITE_P(Fakes, DeviceStopwatchTest, test::both_fakes(), test::fake_name);

}  // namespace
}  // namespace kiln::jit
