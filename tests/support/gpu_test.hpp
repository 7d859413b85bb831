#pragma once

#include <gtest/gtest.h>

#include <string>

#include "support/gpu.hpp"

namespace kiln::test {

/// Skips each test, with the reason, where there is no GPU. Elsewhere device 0's primary context is current.
class GpuTest : public ::testing::Test {
 protected:
  GpuTest() : gpu_(Gpu::get(why_not_)) {}
  void SetUp() override {
    if (gpu_ == nullptr) {
      GTEST_SKIP() << "needs a GPU: " << why_not_;
    }
    gpu_->make_current();
  }
  const Gpu& gpu() const { return *gpu_; }
  const Cuda& cuda() const { return gpu_->cuda(); }

 private:
  std::string why_not_;
  const Gpu* gpu_;
};

}  // namespace kiln::test
