#include "jit/unload_queue.hpp"

#include "jit/launch.hpp"
#include "unit/jit/fake_driver.hpp"

namespace kiln::jit {
namespace {

using test::make_artifact;

class UnloadQueueTest : public test::AnyFakeDriverTest {
 protected:
  auto load() const { return jit::load(driver, make_artifact("sm_90"), "", {}); }

  std::shared_ptr<const Driver> driver = open();
};

INSTANTIATE_TEST_SUITE_P(Fakes, UnloadQueueTest, test::both_fakes(), test::fake_name);

TEST_P(UnloadQueueTest, WaitsWhileAStreamIsCapturedAndUnloadsAtTheNextRelease) {
  auto first = load();
  auto second = load();
  fake.set_capturing(context, true);
  first.clear();
  EXPECT_EQ(fake.images, 2);
  EXPECT_EQ(driver->unloads().waiting(), 1u);
  EXPECT_FALSE(fake.capture_broken);
  fake.set_capturing(context, false);
  second.clear();
  EXPECT_EQ(fake.images, 0);
  EXPECT_EQ(driver->unloads().waiting(), 0u);
}

TEST_P(UnloadQueueTest, WhatWaitedIsUnloadedByTheNextLoad) {
  auto first = load();
  fake.set_capturing(context, true);
  first.clear();
  fake.set_capturing(context, false);
  auto second = load();
  EXPECT_EQ(fake.images, 1);
}

TEST_P(UnloadQueueTest, WaitsForACaptureInTheKernelsOwnContextWhenAnotherIsCurrent) {
  auto kernels = load();
  fake.set_capturing(context, true);
  CUctx_st* other = fake.create_context(1);
  fake.set_current(other);
  kernels.clear();
  EXPECT_EQ(driver->unloads().waiting(), 1u);
  EXPECT_EQ(fake.current(), other);
}

TEST_P(UnloadQueueTest, UnloadsWithNoContextCurrent) {
  auto kernels = load();
  fake.set_current(nullptr);
  kernels.clear();
  EXPECT_EQ(fake.images, 0);
  EXPECT_EQ(fake.current(), nullptr);
}

TEST_P(UnloadQueueTest, AContextThatIsGoneTookItsModulesAlong) {
  auto kernels = load();
  fake.destroy_context(context);
  fake.set_current(nullptr);
  kernels.clear();
  EXPECT_EQ(fake.images, 0);
  EXPECT_EQ(fake.calls["cuModuleUnload"], 0);
}

}  // namespace
}  // namespace kiln::jit
