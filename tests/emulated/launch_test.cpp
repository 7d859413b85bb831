// Launch shapes, arguments, clusters and module data of an emulated kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "kiln/emulator.hpp"
#include "kiln/error.hpp"
#include "support/emulation_batch.hpp"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::source_of;

EmulatedKernel two_kernels(const char* target = "sm_90") {
  return EmulatedKernel(source_of(R"(
    struct Pair { double a; int b; };
    __global__ void first(unsigned* y, unsigned char flag, Pair pair) { *y = flag + pair.b; }
    namespace ns { template <typename T, int N> __global__ void second(T* y) { *y = N; } }
    extern "C" { __device__ unsigned table[4]; }
    extern "C" __global__ void third(unsigned* y) { y[threadIdx.x] = table[threadIdx.x]; }
    __global__ void none() {})",
                                  {"first", "ns::second<unsigned, 5>", "third", "none"}),
                        Target::parse(target));
}

struct Pair {
  double a;
  int b;
};

template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "no error";
}

TEST(Launch, EveryEntryRunsWithItsOwnParameters) {
  const EmulatedKernel kernel = two_kernels();
  unsigned y = 0;
  unsigned* out = &y;
  kernel({}, out, static_cast<unsigned char>(200), Pair{1.5, 7});
  EXPECT_EQ(y, 207U);
  const std::array<Argument, 1> one{Argument{&out, sizeof(out)}};
  kernel.launch({}, one, 1);
  EXPECT_EQ(y, 5U);
  EXPECT_NO_THROW(kernel.launch({}, {}, 3));
  EXPECT_THAT(error_of([&] { kernel.launch({}, {}, 4); }), AllOf(HasSubstr("entry 4"), HasSubstr("has 4")));
}

TEST(Launch, WrongArgumentsAreNamed) {
  const EmulatedKernel kernel = two_kernels();
  unsigned y = 77;
  unsigned* out = &y;
  EXPECT_THAT(error_of([&] { kernel({}, out, static_cast<unsigned char>(1)); }),
              AllOf(HasSubstr("first"), HasSubstr("3 parameters"), HasSubstr("2 arguments")));
  EXPECT_THAT(error_of([&] { kernel({}, out, 1, Pair{}); }),
              AllOf(HasSubstr("argument 1"), HasSubstr("4 bytes"), HasSubstr("has 1")));
  EXPECT_EQ(y, 77U);
}

TEST(Launch, ShapesNoGpuAcceptsAreRefused) {
  const EmulatedKernel kernel = two_kernels();
  unsigned y = 0;
  unsigned* out = &y;
  const auto error = [&](const LaunchConfig& config) {
    return error_of([&] { kernel(config, out, static_cast<unsigned char>(1), Pair{}); });
  };
  EXPECT_THAT(error({.grid = {0}}), HasSubstr("grid is 0 x 1 x 1"));
  EXPECT_THAT(error({.grid = {1, 65536}}), HasSubstr("grid is 1 x 65536 x 1"));
  EXPECT_THAT(error({.block = {1025}}), HasSubstr("block is 1025 x 1 x 1"));
  EXPECT_THAT(error({.block = {1, 1, 65}}), HasSubstr("block is 1 x 1 x 65"));
  EXPECT_THAT(error({.block = {64, 17}}), AllOf(HasSubstr("1088 threads"), HasSubstr("1024")));
  EXPECT_THAT(error({.shared_bytes = 227 * 1024 + 1}), HasSubstr("227 KiB"));
  EXPECT_EQ(error({.shared_bytes = 227 * 1024}), "no error");
  EXPECT_THAT(error({.grid = {6}, .cluster = {4}}), HasSubstr("does not divide the grid"));
  EXPECT_THAT(error({.grid = {32}, .cluster = {32}}), HasSubstr("at most 16"));
  EXPECT_THAT(error({.cluster = {0}}), HasSubstr("at least 1"));
}

TEST(Launch, BlocksThatMayWaitForEachOtherAreRefused) {
  const EmulatedKernel kernel = two_kernels();
  unsigned y = 0;
  unsigned* out = &y;
  const auto error = [&](const LaunchConfig& config) {
    return error_of([&] { kernel(config, out, static_cast<unsigned char>(1), Pair{}); });
  };
  EXPECT_THAT(error({.grid = {2}, .cooperative = true}), HasSubstr("cooperative"));
  EXPECT_EQ(error({.grid = {1}, .cooperative = true}), "no error");
}

TEST(Launch, ClustersNeedSm90) {
  const EmulatedKernel kernel = two_kernels("sm_80");
  unsigned y = 0;
  unsigned* out = &y;
  EXPECT_THAT(error_of([&] { kernel({.grid = {4}, .cluster = {2}}, out, static_cast<unsigned char>(1), Pair{}); }),
              AllOf(HasSubstr("sm_80"), HasSubstr("sm_90")));
}

TEST(Launch, BlocksKnowTheirCluster) {
  const EmulatedKernel kernel(source_of(R"(
    __global__ void places(unsigned* y) {
      y[blockIdx.x + gridDim.x * blockIdx.y] = __clusterIdx().x + 10 * __clusterIdx().y + 100 * __clusterRelativeBlockRank() +
          1000 * __clusterSizeInBlocks() + 10000 * __clusterDim().x;
    })",
                                        {"places"}),
                              Target::parse("sm_90"));
  std::vector<unsigned> y(24);
  unsigned* out = y.data();
  kernel({.grid = {6, 4}, .cluster = {3, 2}}, out);
  for (unsigned row = 0; row < 4; ++row) {
    for (unsigned column = 0; column < 6; ++column) {
      EXPECT_EQ(y[column + 6 * row],
                column / 3 + 10 * (row / 2) + 100 * (column % 3 + 3 * (row % 2)) + 1000 * 6 + 10000 * 3);
    }
  }
}

TEST(Launch, DataIsWrittenToAVariable) {
  const EmulatedKernel kernel = two_kernels();
  const std::vector<unsigned> data = {4, 3, 2, 1};
  kernel.set_data({"table", std::as_bytes(std::span(data))});
  std::vector<unsigned> y(4);
  unsigned* out = y.data();
  const std::array<Argument, 1> arguments{Argument{&out, sizeof(out)}};
  kernel.launch({.block = {4}}, arguments, 2);
  EXPECT_EQ(y, data);
}

TEST(Launch, DataForAVariableThatIsMissingOrTooSmallIsRefused) {
  const EmulatedKernel kernel = two_kernels();
  const std::vector<unsigned> data(64);
  EXPECT_THAT(error_of([&] { kernel.set_data({"tables", std::as_bytes(std::span(data))}); }), HasSubstr("'tables'"));
  EXPECT_THAT(error_of([&] { kernel.set_data({"table", std::as_bytes(std::span(data))}); }),
              AllOf(HasSubstr("'table'"), HasSubstr("256")));
}

TEST(Launch, KernelsAreIndependentOfEachOther) {
  const EmulatedKernel first = two_kernels();
  const EmulatedKernel second = two_kernels();
  const std::vector<unsigned> data = {9, 9, 9, 9};
  first.set_data({"table", std::as_bytes(std::span(data))});
  std::vector<unsigned> y(4, 1);
  unsigned* out = y.data();
  const std::array<Argument, 1> arguments{Argument{&out, sizeof(out)}};
  second.launch({.block = {4}}, arguments, 2);
  EXPECT_EQ(y, std::vector<unsigned>(4, 0));
}

TEST(Launch, InlineVariablesAndSharedMemoryAreEachKernelsOwn) {
  // One variable for all libraries is what g++ makes of an inline one, or of a template's static one.
  const auto kernel_with = [](const std::string& value) {
    return EmulatedKernel(
        source_of("inline constexpr unsigned table[2] = {1, " + value + "};\n" +
                      "template <typename T> __device__ T& cell() { __shared__ T here; return here; }\n"
                      "inline __device__ unsigned counter = 0;\n"
                      "__global__ void read(unsigned* y, unsigned i) {\n"
                      "  cell<unsigned>() = table[i];\n  y[0] = cell<unsigned>();\n  y[1] = ++counter;\n"
                      "  y[2] = static_cast<unsigned>(reinterpret_cast<size_t>(&cell<unsigned>()));\n}",
                  {"read"}),
        Target::parse("sm_90"));
  };
  const EmulatedKernel first = kernel_with("20");
  const EmulatedKernel second = kernel_with("30");
  std::vector<unsigned> a(3);
  std::vector<unsigned> b(3);
  unsigned* out = a.data();
  first({}, out, 1U);
  out = b.data();
  second({}, out, 1U);
  EXPECT_EQ(a[0], 20U);
  EXPECT_EQ(b[0], 30U);
  EXPECT_EQ(a[1], 1U);
  EXPECT_EQ(b[1], 1U);
  EXPECT_NE(a[2], b[2]);
}

}  // namespace
}  // namespace kiln
