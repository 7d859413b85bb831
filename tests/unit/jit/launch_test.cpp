#include "jit/launch.hpp"

#include <gmock/gmock.h>

#include <cstring>

#include "jit/stream_memory.hpp"
#include "kiln/error.hpp"
#include "unit/jit/fake_driver.hpp"

namespace kiln::jit {
namespace {

using test::make_artifact;
using ::testing::HasSubstr;

class LaunchTest : public test::FakeDriverTest {
 protected:
  Kernel load(const std::string& symbol = "scale") const {
    return Kernel(jit::load(driver, make_artifact("sm_90", {symbol}), "", {}).at(0));
  }
  template <typename... Arguments>
  std::string refusal(const Kernel& kernel, const Arguments&... arguments) const {
    try {
      kernel.launch({}, arguments...);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
  }
  template <typename Function>
  DriverError driver_error(Function function) const {
    try {
      function();
    } catch (const DriverError& error) {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return {"", 0, "", ""};
  }

  std::shared_ptr<const Driver> driver = open();
};

TEST_F(LaunchTest, PassesShapeStreamAndArguments) {
  auto stream = reinterpret_cast<Stream>(&fake);
  load().launch({.grid = {2, 3, 4}, .block = {32, 8, 2}, .shared_bytes = 100, .stream = stream}, 1.5, 7);
  ASSERT_EQ(fake.launches.size(), 1u);
  const auto& launch = fake.launches[0];
  EXPECT_EQ(launch.kernel, "scale");
  EXPECT_EQ(std::make_tuple(launch.grid.x, launch.grid.y, launch.grid.z), std::make_tuple(2u, 3u, 4u));
  EXPECT_EQ(std::make_tuple(launch.block.x, launch.block.y, launch.block.z), std::make_tuple(32u, 8u, 2u));
  EXPECT_EQ(launch.shared_bytes, 100u);
  EXPECT_EQ(launch.stream, stream);
  double first = 0;
  int second = 0;
  std::memcpy(&first, launch.arguments.at(0).data(), 8);
  std::memcpy(&second, launch.arguments.at(1).data(), 4);
  EXPECT_EQ(first, 1.5);
  EXPECT_EQ(second, 7);
  EXPECT_EQ(fake.calls["cuLaunchKernelEx"], 0);
}

TEST_F(LaunchTest, AClusterGoesThroughTheExtendedLaunch) {
  load().launch({.grid = {8, 1, 1}, .block = {64, 1, 1}, .cluster = {2, 1, 1}}, 1.5, 7);
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].cluster.x, 2u);
  EXPECT_EQ(fake.launches[0].grid.x, 8u);
  EXPECT_EQ(fake.launches[0].arguments.size(), 2u);
  EXPECT_EQ(fake.calls["cuLaunchKernelEx"], 1);
}

TEST_F(LaunchTest, ACooperativeLaunchSaysSo) {
  load().launch({.grid = {8, 1, 1}, .block = {64, 1, 1}, .cooperative = true}, 1.5, 7);
  load().launch({.grid = {8, 1, 1}, .block = {64, 1, 1}, .cluster = {2, 1, 1}, .cooperative = true}, 1.5, 7);
  load().launch({.grid = {8, 1, 1}, .block = {64, 1, 1}}, 1.5, 7);
  ASSERT_EQ(fake.launches.size(), 3u);
  EXPECT_TRUE(fake.launches[0].cooperative);
  EXPECT_EQ(fake.launches[0].cluster.x, 1u);
  EXPECT_TRUE(fake.launches[1].cooperative);
  EXPECT_EQ(fake.launches[1].cluster.x, 2u);
  EXPECT_FALSE(fake.launches[2].cooperative);
}

TEST_F(LaunchTest, TooManyBlocksForACooperativeLaunchGetAdvice) {
  fake.failures["cuLaunchKernelEx"] = 720;
  try {
    load().launch({.grid = {8, 1, 1}, .block = {64, 1, 1}, .cooperative = true}, 1.5, 7);
    FAIL();
  } catch (const DriverError& error) {
    EXPECT_THAT(error.what(), HasSubstr("resident_blocks"));
    EXPECT_THAT(error.what(), HasSubstr("cooperative"));
  }
}

TEST_F(LaunchTest, ResidentBlocksAreThoseOfAllMultiprocessors) {
  Kernel kernel = load();
  EXPECT_EQ(kernel.resident_blocks(512, 1000), 4u * fake.multiprocessors);
  EXPECT_EQ(kernel.resident_blocks(512, 100'000), 0u);
  kernel.allow_shared_bytes(100'000);
  EXPECT_EQ(kernel.resident_blocks(1024, 100'000), 2u * fake.multiprocessors);
}

TEST_F(LaunchTest, MemoryInAStreamsOrderIsFreedWhenItsUseEnds) {
  {
    StreamMemory memory(driver, 1000, nullptr);
    EXPECT_EQ(fake.stream_bytes, 1000u);
    std::memset(memory.data(), 7, 1000);
    clear_in_stream(*driver, memory.data(), 8, nullptr);
    const auto* bytes = static_cast<const unsigned char*>(memory.data());
    EXPECT_EQ(bytes[7], 0);
    EXPECT_EQ(bytes[8], 7);
  }
  EXPECT_EQ(fake.stream_bytes, 0u);
  fake.failures["cuMemAllocAsync"] = 801;
  try {
    StreamMemory(driver, 1000, nullptr);
    FAIL();
  } catch (const DriverError& error) {
    EXPECT_THAT(error.what(), HasSubstr("1000 bytes of scratch memory"));
  }
  EXPECT_EQ(fake.calls["cuMemFreeAsync"], 1);
}

TEST_F(LaunchTest, AWrongCountIsNamedBeforeAnythingIsLaunched) {
  Kernel kernel = load();
  for (const std::string& message : {refusal(kernel), refusal(kernel, 1.5), refusal(kernel, 1.5, 7, 7)}) {
    EXPECT_THAT(message, HasSubstr("takes 2 arguments"));
    EXPECT_THAT(message, HasSubstr("scale<float>"));
  }
  EXPECT_THAT(refusal(load("shift"), 1), HasSubstr("takes 0 arguments, but was given 1"));
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(LaunchTest, AWrongSizeIsNamedWithItsPositionAndBothSizes) {
  std::string message = refusal(load(), 1.5, std::uint64_t{7});
  EXPECT_THAT(message, HasSubstr("argument 2 of 2"));
  EXPECT_THAT(message, HasSubstr("has 8 bytes, but the parameter has 4"));
  EXPECT_THAT(refusal(load(), 1.5F, 7), HasSubstr("argument 1 of 2"));
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(LaunchTest, WithoutParameterInfoArgumentsPassUnchecked) {
  fake.missing = {"cuFuncGetParamInfo"};
  driver = open();
  load().launch({}, 1.5, std::uint64_t{7});
  EXPECT_EQ(fake.launches.size(), 1u);
}

TEST_F(LaunchTest, UnknownParameterInfoMeansUnchecked) {
  fake.failures["cuFuncGetParamInfo"] = 801;
  load().launch({}, 1.5, std::uint64_t{7});
  EXPECT_EQ(fake.launches.size(), 1u);
}

TEST_F(LaunchTest, AtMost128ArgumentsCanBePassed) {
  int value = 0;
  fake.kernels["many"] = std::vector<std::size_t>(128, sizeof(value));
  std::vector<Argument> arguments(128, Argument{&value, sizeof(value)});
  Kernel kernel = load("many");
  kernel.launch_arguments({}, arguments);
  EXPECT_EQ(fake.launches.at(0).arguments.size(), 128u);

  fake.missing = {"cuFuncGetParamInfo"};
  driver = open();
  arguments.push_back({&value, sizeof(value)});
  try {
    load("many").launch_arguments({}, arguments);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("at most 128"));
  }
}

TEST_F(LaunchTest, ARefusedLaunchNamesKernelShapeAndSharedMemory) {
  DriverError error =
      driver_error([&] { load().launch({.grid = {0, 1, 1}, .block = {2048, 1, 1}, .shared_bytes = 16}, 1.5, 7); });
  EXPECT_EQ(error.call(), "cuLaunchKernel");
  EXPECT_EQ(error.result_name(), "CUDA_ERROR_INVALID_VALUE");
  EXPECT_EQ(error.object(),
            "kernel 'scale<float>' of template test.cu for sm_90 with grid {0, 1, 1}, block {2048, 1, 1}, 16 bytes of "
            "dynamic shared memory");
}

TEST_F(LaunchTest, ARefusedClusterLaunchNamesTheCluster) {
  fake.failures["cuLaunchKernelEx"] = 912;
  DriverError error = driver_error([&] { load().launch({.grid = {4, 1, 1}, .cluster = {3, 1, 1}}, 1.5, 7); });
  EXPECT_EQ(error.call(), "cuLaunchKernelEx");
  EXPECT_THAT(error.object(), HasSubstr("cluster {3, 1, 1}"));
}

TEST_F(LaunchTest, LargeSharedMemoryHasToBeAllowedAndTheErrorSaysSo) {
  Kernel kernel = load();
  LaunchConfig config{.shared_bytes = 100 * 1024};
  EXPECT_THAT(driver_error([&] { kernel.launch(config, 1.5, 7); }).object(), HasSubstr("allow_shared_bytes"));
  kernel.allow_shared_bytes(100 * 1024);
  kernel.launch(config, 1.5, 7);
  EXPECT_EQ(fake.launches.size(), 1u);
}

TEST_F(LaunchTest, MoreSharedMemoryThanThereIsIsNamed) {
  DriverError error = driver_error([&] { load().allow_shared_bytes(4'000'000'000u); });
  EXPECT_EQ(error.call(), "cuFuncSetAttribute");
  EXPECT_THAT(error.object(), HasSubstr("4000000000 bytes"));
}

TEST_F(LaunchTest, AKernelOfAnotherContextIsToldAsSuch) {
  Kernel kernel = load();
  fake.set_current(fake.create_context(0));
  EXPECT_THAT(driver_error([&] { kernel.launch({}, 1.5, 7); }).object(), HasSubstr("context it was made for"));
}

TEST_F(LaunchTest, ALaunchIsOneCall) {
  Kernel kernel = load();
  fake.calls.clear();
  kernel.launch({}, 1.5, 7);
  EXPECT_EQ(fake.calls, (std::map<std::string, int>{{"cuLaunchKernel", 1}}));
}

}  // namespace
}  // namespace kiln::jit
