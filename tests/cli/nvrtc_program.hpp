#pragma once

#include <gtest/gtest.h>

#include "cli/program.hpp"

namespace kiln::test {

/// Tests that compile: skipped where there is no NVRTC.
class NvrtcProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (!program_.has_nvrtc()) {
      GTEST_SKIP() << "no NVRTC here";
    }
  }

  Program program_;
};

}  // namespace kiln::test
