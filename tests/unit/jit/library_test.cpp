#include "jit/library.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "jit/driver_api.hpp"
#include "jit/launch.hpp"
#include "kiln/error.hpp"
#include "unit/jit/fake_driver.hpp"

namespace kiln::jit {
namespace {

using test::make_artifact;
using ::testing::HasSubstr;

class LibraryTest : public test::AnyFakeDriverTest {
 protected:
  auto load(const std::shared_ptr<const Artifact>& artifact, std::string_view symbol = "",
            std::span<const std::byte> data = {}) const {
    return jit::load(driver, artifact, symbol, data);
  }
  template <typename Function>
  std::string refusal(ErrorCode code, Function function) const {
    try {
      function();
    } catch (const Error& error) {
      EXPECT_EQ(std::string(name_of(error.code())), name_of(code)) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
  }
  bool libraries() const { return GetParam() == test::k_fake_cuda; }

  std::shared_ptr<const Driver> driver = open();
};

INSTANTIATE_TEST_SUITE_P(Fakes, LibraryTest, test::both_fakes(), test::fake_name);

TEST_P(LibraryTest, GivesOneKernelPerEntryInOrder) {
  auto kernels = load(make_artifact("sm_90", {"shift", "scale"}));
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0]->entry().lowered, "shift");
  EXPECT_EQ(kernels[1]->entry().expression, "scale<float>");
  EXPECT_EQ(kernels[1]->context(), driver->current_context());
  EXPECT_EQ(fake.images, 1);
}

TEST_P(LibraryTest, UsesLibrariesWhereTheDriverHasThemElseModules) {
  auto kernels = load(make_artifact("sm_90"));
  EXPECT_EQ(fake.calls["cuLibraryLoadData"], libraries() ? 1 : 0);
  EXPECT_EQ(fake.calls["cuModuleLoadDataEx"], libraries() ? 0 : 1);
}

TEST_P(LibraryTest, ForcesTheCodeInSoThatNoLaunchLoadsIt) {
  auto kernels = load(make_artifact("sm_90"));
  EXPECT_EQ(fake.calls["cuFuncLoad"], libraries() ? 1 : 0);
  EXPECT_EQ(fake.calls["cuFuncGetAttribute"], libraries() ? 0 : 1);
}

TEST_P(LibraryTest, NeverChangesTheCurrentContext) {
  CUctx_st* other = fake.create_context(0);
  auto kernels = load(make_artifact("sm_90"));
  fake.set_current(other);
  kernels.clear();
  EXPECT_EQ(fake.images, 0);
  EXPECT_EQ(fake.current(), other);
}

TEST_P(LibraryTest, UnloadsOnceWithTheLastKernel) {
  auto kernels = load(make_artifact("sm_90", {"scale", "shift"}));
  auto last = kernels[1];
  kernels.clear();
  EXPECT_EQ(fake.images, 1);
  last.reset();
  EXPECT_EQ(fake.images, 0);
  EXPECT_EQ(fake.calls[libraries() ? "cuLibraryUnload" : "cuModuleUnload"], 1);
}

TEST_P(LibraryTest, AKernelKeepsItsArtifact) {
  auto artifact = make_artifact("sm_90");
  std::weak_ptr<const Artifact> watch = artifact;
  Kernel kernel(load(artifact).at(0));
  artifact.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(kernel.artifact().template_name, "test.cu");
}

TEST_P(LibraryTest, AnUnsupportedCubinNeverReachesTheDriver) {
  for (const char* target : {"sm_80", "sm_100", "sm_100a", "sm_90a"}) {
    fake.devices[0] = {std::string(target) == "sm_90a" ? 10 : 9, 0};
    std::string message = refusal(ErrorCode::unsupported_target, [&] { load(make_artifact(target)); });
    EXPECT_THAT(message, HasSubstr(target));
    EXPECT_THAT(message, HasSubstr(std::string(target) == "sm_90a" ? "sm_100" : "sm_90"));
  }
  EXPECT_TRUE(fake.loaded.empty());
}

TEST_P(LibraryTest, LoadsThePtxBesideACubinThatIsTooOldForTheDevice) {
  auto artifact = make_artifact("sm_80");
  artifact->ptx = "// the PTX";
  auto kernels = load(artifact);
  EXPECT_EQ(fake.loaded, std::vector<std::string>{"// the PTX"});
}

TEST_P(LibraryTest, NeverLoadsPtxAcrossASuffixOrForAnOlderDevice) {
  for (const char* target : {"sm_80a", "sm_100", "sm_100f"}) {
    auto artifact = make_artifact(target);
    artifact->ptx = "// the PTX";
    refusal(ErrorCode::unsupported_target, [&] { load(artifact); });
  }
  EXPECT_TRUE(fake.loaded.empty());
}

TEST_P(LibraryTest, GivesPtxEndedByNul) {
  auto artifact = make_artifact("compute_80");
  std::string_view text = "// exactly this";
  artifact->image.assign(reinterpret_cast<const std::byte*>(text.data()),
                         reinterpret_cast<const std::byte*>(text.data() + text.size()));
  artifact->image.shrink_to_fit();
  auto kernels = load(artifact);
  EXPECT_EQ(fake.loaded, std::vector<std::string>{std::string(text)});
}

TEST_P(LibraryTest, ReportsTheDriversLogForPtx) {
  fake.failures[libraries() ? "cuLibraryLoadData" : "cuModuleLoadDataEx"] = k_cuda_invalid_ptx;
  fake.jit_log = "ptxas: line 3: unknown register";
  try {
    load(make_artifact("compute_90"));
    FAIL();
  } catch (const DriverError& error) {
    EXPECT_EQ(error.result_name(), "CUDA_ERROR_INVALID_PTX");
    EXPECT_THAT(error.object(), HasSubstr("unknown register"));
    EXPECT_THAT(error.object(), HasSubstr("test.cu for compute_90"));
    EXPECT_TRUE(is_image_error(error.result()));
  }
}

TEST_P(LibraryTest, ATruncatedCubinIsAnImageErrorAndNeverReachesTheDriver) {
  auto artifact = make_artifact("sm_90");
  artifact->image.resize(40);
  try {
    load(artifact);
    FAIL();
  } catch (const DriverError& error) {
    EXPECT_TRUE(is_image_error(error.result()));
    EXPECT_THAT(error.object(), HasSubstr("40 bytes"));
  }
  EXPECT_TRUE(fake.loaded.empty());
}

TEST_P(LibraryTest, AMissingEntryNamesItAndUnloads) {
  try {
    load(make_artifact("sm_90", {"scale", "absent"}));
    FAIL();
  } catch (const DriverError& error) {
    EXPECT_THAT(error.object(), HasSubstr("absent<float>"));
    EXPECT_TRUE(is_image_error(error.result()));
  }
  EXPECT_EQ(fake.images, 0);
}

TEST_P(LibraryTest, EveryFailingCallIsADriverErrorThatNamesItAndLeaksNothing) {
  fake.variables["table"].resize(4);
  load(make_artifact("sm_90"), "table", std::vector<std::byte>(4));
  std::map<std::string, int> made = fake.calls;
  // Asked to be sure rather than to get anything done; and what runs after the kernels are there.
  for (const char* optional :
       {"cuInit", "cuStreamIsCapturing", "cuThreadExchangeStreamCaptureMode", "cuStreamDestroy", "cuFuncGetParamInfo",
        "cuLibraryUnload", "cuModuleUnload", "cuCtxPushCurrent", "cuCtxPopCurrent"}) {
    made.erase(optional);
  }
  ASSERT_GE(made.size(), 8u);
  for (const auto& [call, count] : made) {
    fake.failures = {{call, 2}};
    try {
      load(make_artifact("sm_90"), "table", std::vector<std::byte>(4));
      ADD_FAILURE() << call << " failed unnoticed";
    } catch (const DriverError& error) {
      EXPECT_EQ(error.call(), call);
      EXPECT_FALSE(is_image_error(error.result()));
    }
    fake.failures.clear();
    driver->unloads().flush();
    EXPECT_EQ(fake.images, 0) << call;
    EXPECT_EQ(fake.capture_mode(), 0) << call;
  }
}

TEST_P(LibraryTest, WritesDataToTheVariable) {
  fake.variables["table"].resize(8);
  const std::byte data[] = {std::byte{1}, std::byte{2}, std::byte{3}};
  auto kernels = load(make_artifact("sm_90"), "table", data);
  EXPECT_TRUE(std::equal(std::begin(data), std::end(data), fake.variables["table"].begin()));
}

TEST_P(LibraryTest, RefusesDataLargerThanTheVariableNamingBothSizes) {
  fake.variables["table"].resize(8);
  std::string message =
      refusal(ErrorCode::invalid_argument, [&] { load(make_artifact("sm_90"), "table", std::vector<std::byte>(12)); });
  EXPECT_THAT(message, HasSubstr("'table'"));
  EXPECT_THAT(message, HasSubstr("8 bytes"));
  EXPECT_THAT(message, HasSubstr("12"));
  EXPECT_EQ(fake.images, 0);
}

TEST_P(LibraryTest, AMissingVariableIsNamed) {
  try {
    load(make_artifact("sm_90"), "no_table", std::vector<std::byte>(1));
    FAIL();
  } catch (const DriverError& error) {
    EXPECT_THAT(error.object(), HasSubstr("'no_table'"));
  }
}

TEST_P(LibraryTest, RefusesToLoadInACaptureAndLeavesItIntact) {
  fake.set_capturing(context, true);
  std::string message = refusal(ErrorCode::capture_active, [&] { load(make_artifact("sm_90")); });
  EXPECT_THAT(message, HasSubstr("before the capture begins"));
  EXPECT_FALSE(fake.capture_broken);
  EXPECT_TRUE(fake.loaded.empty());
}

TEST_P(LibraryTest, LeavesACaptureIntactThatTheDriverDoesNotTellOf) {
  fake.hidden_capture = true;
  fake.variables["table"].resize(8);
  auto kernels = load(make_artifact("sm_90"), "table", std::vector<std::byte>(8));
  kernels.clear();
  EXPECT_EQ(fake.images, 0);
  EXPECT_FALSE(fake.capture_broken);
  EXPECT_EQ(fake.capture_mode(), 0);
}

TEST(IsImageError, KeepsTheDevicesTroubleApart) {
  for (int result : {1, 200, 209, 218, 222, 300, 500}) {
    EXPECT_TRUE(is_image_error(result)) << result;
  }
  for (int result : {0, 2, 3, 4, 46, 100, 201, 214, 400, 700, 709, 719, 900, 999}) {
    EXPECT_FALSE(is_image_error(result)) << result;
  }
}

}  // namespace
}  // namespace kiln::jit
