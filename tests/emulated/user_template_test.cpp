// Templates as a user writes them: a literal table, a type, a piece of code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kiln/emulator.hpp"
#include "kiln/source.hpp"

namespace kiln {
namespace {

const char* const k_weighted = R"(// kiln: parameter element: type
// kiln: parameter weights: f32[4]
// kiln: parameter taps: u16[]
// kiln: parameter ending: code = value
// kiln: entry weighted<kiln::element>
#include "kiln/values.h"

template <typename T>
__global__ void weighted(T* y, const T* x, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T value = 0;
  for (unsigned k = 0; k < 4; ++k) {
    value += static_cast<T>(kiln::weights[k]) * x[(i + kiln::taps[k]) % n];
  }
  y[i] =
#include "kiln/code/ending.h"
  ;
}
)";

template <typename T>
std::vector<T> run(const Values& values, unsigned n) {
  const Template tmpl = Template::from_text("weighted.cu", k_weighted);
  const EmulatedKernel kernel(instantiate(tmpl, values), Target::parse("sm_80"));
  std::vector<T> x(n);
  std::vector<T> y(n);
  for (unsigned i = 0; i < n; ++i) {
    x[i] = static_cast<T>(i);
  }
  T* out = y.data();
  const T* in = x.data();
  kernel({.grid = {(n + 31) / 32}, .block = {32}}, out, in, n);
  return y;
}

TEST(UserTemplate, TableTypeAndCodeReachTheKernel) {
  const Values values{{"element", TypeName{"float"}},
                      {"weights", std::vector<double>{0.5, 0.25, -1.0, 2.0}},
                      {"taps", std::vector<int>{0, 1, 7, 30}},
                      {"ending", Code{"value * 10 + 1"}}};
  const auto y = run<float>(values, 100);
  for (unsigned i = 0; i < 100; ++i) {
    const auto at = [&](unsigned tap) { return static_cast<float>((i + tap) % 100); };
    EXPECT_EQ(y[i], (0.5F * at(0) + 0.25F * at(1) - at(7) + 2.0F * at(30)) * 10 + 1) << i;
  }
}

TEST(UserTemplate, AnotherTypeIsAnotherKernel) {
  const Values values{{"element", TypeName{"long long"}},
                      {"weights", std::vector<double>{1.0, 1.0, 1.0, 1.0}},
                      {"taps", std::vector<int>{0, 0, 0, 1}}};
  const auto y = run<long long>(values, 10);
  for (unsigned i = 0; i < 10; ++i) {
    EXPECT_EQ(y[i], 3 * static_cast<long long>(i) + (i + 1) % 10);
  }
}

}  // namespace
}  // namespace kiln
