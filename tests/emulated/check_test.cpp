// What an emulated kernel does that a GPU would refuse, or that leaves its memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "emulation/sanitizers.hpp"
#include "kiln/emulator.hpp"
#include "kiln/error.hpp"
#include "support/emulation_batch.hpp"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::source_of;

const Target k_target = Target::parse("sm_90");

template <typename... Arguments>
std::string error_of(const EmulatedKernel& kernel, const LaunchConfig& config, Arguments... arguments) {
  try {
    kernel(config, arguments...);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "no error";
}

TEST(Check, MisalignedLoadAndStoreFunctionsNameTheirLine) {
  const EmulatedKernel kernel(source_of("__global__ void copy(char* y, const char* x) {\n"
                                        "  const uint2 v = __ldg(reinterpret_cast<const uint2*>(x));\n"
                                        "  __stcs(reinterpret_cast<uint2*>(y), v);\n}",
                                        {"copy"}),
                              k_target);
  alignas(16) char x[32] = {};
  alignas(16) char y[32] = {};
  const auto error = [&](int y_offset, int x_offset) {
    char* out = y + y_offset;
    const char* in = x + x_offset;
    return error_of(kernel, {}, out, in);
  };
  EXPECT_EQ(error(8, 8), "no error");
  EXPECT_THAT(error(0, 4), AllOf(HasSubstr("alignment"), HasSubstr("test.cu:2")));
  EXPECT_THAT(error(4, 0), AllOf(HasSubstr("alignment"), HasSubstr("test.cu:3")));
}

TEST(Check, AWidthThatNoShuffleHasNamesItsLine) {
  const EmulatedKernel kernel(source_of("__global__ void shuffle(unsigned* y, int width, int which) {\n"
                                        "  const unsigned t = threadIdx.x;\n"
                                        "  if (which == 0) y[t] = __shfl_sync(~0u, t, 40, width);\n"
                                        "  if (which == 1) y[t] = __shfl_up_sync(~0u, t, 1, width);\n"
                                        "  if (which == 2) y[t] = __shfl_down_sync(~0u, t, 33, width);\n"
                                        "  if (which == 3) y[t] = __shfl_xor_sync(~0u, t, 32, width);\n}",
                                        {"shuffle"}),
                              k_target);
  unsigned y[32] = {};
  for (int which = 0; which < 4; ++which) {
    for (int width : {0, -32, 3, 33, 64}) {
      EXPECT_THAT(error_of(kernel, {.block = {32}}, &y[0], width, which),
                  AllOf(HasSubstr("width of a shuffle"), HasSubstr("test.cu:" + std::to_string(3 + which))))
          << width;
    }
    EXPECT_EQ(error_of(kernel, {.block = {32}}, &y[0], 16, which), "no error");
  }
}

TEST(Check, MisalignedVectorAccessNamesItsLine) {
  const char* const compiler = std::getenv("KILN_HOST_CXX");
  if (compiler != nullptr && std::strstr(compiler, "clang") != nullptr) {
    GTEST_SKIP() << "clang leaves such an access unchecked";
  }
  const EmulatedKernel kernel(source_of("__global__ void load(uint4* y, const char* x, int offset) {\n"
                                        "  *y = *reinterpret_cast<const uint4*>(x + offset);\n}",
                                        {"load"}),
                              k_target);
  alignas(16) char x[64] = {};
  alignas(16) char y[16] = {};
  char* out = y;
  const char* in = x;
  kernel({}, out, in, 16);
  EXPECT_THAT(error_of(kernel, {}, out, in, 8),
              AllOf(HasSubstr("aligned to 16 bytes"), HasSubstr("at test.cu:2"), HasSubstr("block (0, 0, 0)")));
}

TEST(Check, IndexOutsideALiteralTableNamesIt) {
  const EmulatedKernel kernel(source_of("constexpr unsigned short table[3] = {4, 5, 6};\n"
                                        "__global__ void look(unsigned* y, int i) {\n"
                                        "  *y = table[i];\n}",
                                        {"look"}),
                              k_target);
  unsigned y = 0;
  unsigned* out = &y;
  kernel({}, out, 2);
  EXPECT_EQ(y, 6U);
  EXPECT_THAT(error_of(kernel, {}, out, 3), AllOf(HasSubstr("index 3"), HasSubstr("test.cu:3")));
}

TEST(Check, DivisionByZeroNamesItsLine) {
  const EmulatedKernel kernel(source_of("__global__ void divide(int* y, int by) {\n"
                                        "  y[0] = 7 / by;\n"
                                        "  y[1] = 7u % static_cast<unsigned>(by);\n}",
                                        {"divide"}),
                              k_target);
  int y[2] = {};
  int* out = y;
  kernel({}, out, 2);
  EXPECT_EQ(y[0], 3);
  EXPECT_EQ(y[1], 1);
  EXPECT_THAT(error_of(kernel, {}, out, 0), AllOf(HasSubstr("divided by zero"), HasSubstr("test.cu:2")));
}

TEST(Check, NullPointerIsAnError) {
  const EmulatedKernel kernel(source_of("__global__ void store(unsigned* y) { *y = 1; }", {"store"}), k_target);
  unsigned* out = nullptr;
  EXPECT_THAT(error_of(kernel, {}, out), HasSubstr("test.cu:1"));
}

TEST(Check, FailedAssertionAndTrapNameThread) {
  const EmulatedKernel kernel(source_of("__global__ void checks(unsigned n) {\n"
                                        "  assert(threadIdx.x < n);\n"
                                        "  if (n > 100) __trap();\n}",
                                        {"checks"}),
                              k_target);
  kernel({.block = {8}}, 8U);
  EXPECT_THAT(error_of(kernel, {.block = {8}}, 5U),
              AllOf(HasSubstr("assertion failed: threadIdx.x < n"), HasSubstr("thread (5, 0, 0)"), HasSubstr(":2")));
  EXPECT_THAT(error_of(kernel, {.block = {8}}, 101U), AllOf(HasSubstr("__trap"), HasSubstr(":3")));
}

const char* const k_shared_writer =
    "__global__ void write(unsigned at) { extern __shared__ unsigned char tile[]; tile[at] = 1; }";

TEST(Check, WritingBehindDynamicSharedMemoryNamesBlockAndOffset) {
  if (emulation::sanitizers::k_address) {
    GTEST_SKIP() << "the address sanitizer stops such a kernel: see the next test";
  }
  const EmulatedKernel kernel(source_of(k_shared_writer, {"write"}), k_target);
  kernel({.shared_bytes = 101}, 100U);
  EXPECT_THAT(error_of(kernel, {.grid = {2}, .shared_bytes = 101}, 101U),
              AllOf(HasSubstr("block (0, 0, 0)"), HasSubstr("offset 101"), HasSubstr("101 bytes")));
}

TEST(CheckDeathTest, AddressSanitizerStopsAtTheFirstByteBehindABuffer) {
  if (!emulation::sanitizers::k_address) {
    GTEST_SKIP() << "built without the address sanitizer";
  }
  const EmulatedKernel kernel(source_of(k_shared_writer, {"write"}), k_target);
  kernel({.shared_bytes = 101}, 100U);
  EXPECT_DEATH(kernel({.shared_bytes = 101}, 101U), "use-after-poison");
  const EmulatedKernel store(
      source_of("__global__ void store(unsigned char* y, unsigned at) { y[at] = 1; __syncthreads(); }", {"store"}),
      k_target);
  std::vector<unsigned char> y(33);
  unsigned char* out = y.data();
  store({.block = {4}}, out, 32U);
  EXPECT_DEATH(store({.block = {4}}, out, 33U), "heap-buffer-overflow");
  const EmulatedKernel fixed(
      source_of("__global__ void fixed(unsigned char* at) { __shared__ unsigned char tile[40]; *at = 0; "
                "unsigned char* volatile all = tile; all[*at + blockDim.x] = 1; }",
                {"fixed"}),
      k_target);
  EXPECT_DEATH(fixed({.block = {40}}, out), "global-buffer-overflow");
}

}  // namespace
}  // namespace kiln
