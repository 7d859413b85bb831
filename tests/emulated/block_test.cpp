// Threads, blocks, barriers and shared memory of an emulated kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "kiln/emulator.hpp"
#include "kiln/error.hpp"
#include "support/emulation_batch.hpp"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::source_of;

const Target k_target = Target::parse("sm_90");

std::string error_of(const EmulatedKernel& kernel, const LaunchConfig& config, unsigned* y) {
  try {
    kernel(config, y);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "no error";
}

TEST(Block, EveryThreadOfAGridOfThreeDimensionsKnowsItsPlace) {
  const EmulatedKernel kernel(source_of(R"(
    __global__ void places(uint3* y) {
      const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
      const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
      const unsigned at = 2 * (block * blockDim.x * blockDim.y * blockDim.z + thread);
      y[at] = blockIdx;
      y[at + 1] = threadIdx;
    })",
                                        {"places"}),
                              k_target);
  struct Place {
    unsigned x, y, z;
    bool operator==(const Place&) const = default;
  };
  const Dim3 grid{3, 2, 4};
  const Dim3 block{5, 3, 2};
  std::vector<Place> y(2 * 24 * 30, Place{99, 99, 99});
  Place* out = y.data();
  kernel({.grid = grid, .block = block}, out);
  std::size_t at = 0;
  for (unsigned bz = 0; bz < grid.z; ++bz) {
    for (unsigned by = 0; by < grid.y; ++by) {
      for (unsigned bx = 0; bx < grid.x; ++bx) {
        for (unsigned tz = 0; tz < block.z; ++tz) {
          for (unsigned ty = 0; ty < block.y; ++ty) {
            for (unsigned tx = 0; tx < block.x; ++tx) {
              ASSERT_EQ(y[at++], (Place{bx, by, bz}));
              ASSERT_EQ(y[at++], (Place{tx, ty, tz}));
            }
          }
        }
      }
    }
  }
}

TEST(Block, BarrierShowsEveryThreadWhatAllWroteBefore) {
  const EmulatedKernel kernel(source_of(R"(
    __global__ void prefix(unsigned* y) {
      __shared__ unsigned values[1024];
      values[threadIdx.x] = threadIdx.x + 1;
      __syncthreads();
      for (unsigned step = 1; step < blockDim.x; step *= 2) {
        const unsigned before = threadIdx.x >= step ? values[threadIdx.x - step] : 0;
        __syncthreads();
        values[threadIdx.x] += before;
        __syncthreads();
      }
      y[blockIdx.x * blockDim.x + threadIdx.x] = values[threadIdx.x];
    })",
                                        {"prefix"}),
                              k_target);
  for (const unsigned threads : {1U, 31U, 32U, 33U, 250U, 1024U}) {
    std::vector<unsigned> y(3 * threads);
    unsigned* out = y.data();
    kernel({.grid = {3}, .block = {threads}}, out);
    for (unsigned i = 0; i < y.size(); ++i) {
      const unsigned n = i % threads + 1;
      ASSERT_EQ(y[i], n * (n + 1) / 2) << threads << " threads, position " << i;
    }
  }
}

TEST(Block, BarriersCountPredicates) {
  const EmulatedKernel kernel(source_of(R"(
    __global__ void count(unsigned* y) {
      const int even = __syncthreads_count(threadIdx.x % 2 == 0);
      const int any = __syncthreads_or(threadIdx.x == 7);
      const int none = __syncthreads_or(threadIdx.x == 700);
      const int all = __syncthreads_and(threadIdx.x < 70);
      const int not_all = __syncthreads_and(threadIdx.x < 69);
      y[threadIdx.x] = even * 10000 + any * 1000 + none * 100 + all * 10 + not_all;
    })",
                                        {"count"}),
                              k_target);
  std::vector<unsigned> y(70);
  unsigned* out = y.data();
  kernel({.block = {70}}, out);
  EXPECT_EQ(y, std::vector<unsigned>(70, 351010));
}

TEST(Block, ThreadsThatReturnedHoldNobodyUp) {
  const EmulatedKernel kernel(source_of(R"(
    __global__ void early(unsigned* y) {
      if (threadIdx.x % 3 != 0) return;
      const int left = __syncthreads_count(1);
      if (threadIdx.x >= 30) return;
      y[threadIdx.x] = left * 100 + __syncthreads_count(1);
    })",
                                        {"early"}),
                              k_target);
  std::vector<unsigned> y(90, 0);
  unsigned* out = y.data();
  kernel({.block = {90}}, out);
  for (unsigned i = 0; i < 90; ++i) {
    EXPECT_EQ(y[i], i % 3 == 0 && i < 30 ? 3010U : 0U);
  }
}

TEST(Block, DifferentBarriersAreAnErrorThatNamesBlockThreadAndLine) {
  const EmulatedKernel kernel(source_of(R"(__global__ void split(unsigned* y) {
  if (blockIdx.x == 1 && threadIdx.x >= 4) {
    __syncthreads();
  } else {
    __syncthreads();
  }
})",
                                        {"split"}),
                              k_target);
  unsigned y = 0;
  EXPECT_THAT(error_of(kernel, {.grid = {2}, .block = {8}}, &y),
              AllOf(HasSubstr("different barriers"), HasSubstr("block (1, 0, 0)"), HasSubstr("test.cu:3"),
                    HasSubstr("test.cu:5"), HasSubstr("thread (4, 0, 0)")));
  kernel({.grid = {1}, .block = {8}}, &y);  // and it can be launched again
}

TEST(Block, ThreadsThatWaitForEverAreAnErrorThatNamesThem) {
  const EmulatedKernel kernel(source_of(R"(__global__ void stuck(unsigned* y) {
  if (threadIdx.x == 5) {
    __syncwarp();
  }
  __syncthreads();
})",
                                        {"stuck"}),
                              k_target);
  unsigned y = 0;
  EXPECT_THAT(error_of(kernel, {.block = {40}}, &y),
              AllOf(HasSubstr("wait for ever"), HasSubstr("__syncwarp"), HasSubstr("test.cu:3"),
                    HasSubstr("__syncthreads"), HasSubstr("test.cu:5")));
}

TEST(Block, SharedMemoryStartsAsGarbageInEveryBlock) {
  const EmulatedKernel kernel(source_of(R"(
    __global__ void stale(unsigned* y) {
      extern __shared__ unsigned dynamic[];
      if (threadIdx.x == 0) y[blockIdx.x] = dynamic[3];
      dynamic[3] = 42;
    })",
                                        {"stale"}),
                              k_target);
  std::vector<unsigned> y(3);
  unsigned* out = y.data();
  kernel({.grid = {3}, .shared_bytes = 16}, out);
  EXPECT_EQ(y, std::vector<unsigned>(3, 0xDBDBDBDB));
}

TEST(Block, OddBlocksRunTheirThreadsBackwards) {
  const EmulatedKernel kernel(source_of("__global__ void last(unsigned* y) { y[blockIdx.x] = threadIdx.x; }", {"last"}),
                              k_target);
  std::vector<unsigned> y(4);
  unsigned* out = y.data();
  kernel({.grid = {4}, .block = {64}}, out);
  EXPECT_EQ(y, (std::vector<unsigned>{63, 0, 63, 0}));
}

TEST(Block, DynamicSharedMemoryIsOneBufferUnderEveryNameAndType) {
  const EmulatedKernel kernel(source_of(R"(
    extern __shared__ __align__(16) unsigned char bytes[];
    namespace inner { extern __shared__ unsigned words[]; }
    template <typename T> __device__ T& element(unsigned i) {
      extern __shared__ T elements[];
      return elements[i];
    }
    __shared__ extern volatile unsigned short halves[][2];
    __global__ void alias(unsigned* y) {
      element<unsigned>(1) = 0x01020304u;
      y[0] = inner::words[1];
      y[1] = bytes[4];
      y[2] = halves[1][1];
      y[3] = reinterpret_cast<uchar4*>(bytes)[1].w;
    })",
                                        {"alias"}),
                              k_target);
  std::vector<unsigned> y(4);
  unsigned* out = y.data();
  kernel({.shared_bytes = 8}, out);
  EXPECT_EQ(y, (std::vector<unsigned>{0x01020304, 4, 0x0102, 1}));
}

TEST(Block, StaticSharedMemoryOfTemplatesAndFunctionsIsTheBlocks) {
  const EmulatedKernel kernel(source_of(R"(
    template <typename T, int N> __device__ T* buffer() {
      static __shared__ T values[N];
      return values;
    }
    __shared__ unsigned outside[32];
    __global__ void reverse(unsigned* y) {
      buffer<unsigned, 32>()[threadIdx.x] = threadIdx.x;
      buffer<unsigned short, 32>()[threadIdx.x] = 100 + threadIdx.x;
      outside[threadIdx.x] = 200 + threadIdx.x;
      __syncthreads();
      y[threadIdx.x] = buffer<unsigned, 32>()[31 - threadIdx.x] + 1000 * buffer<unsigned short, 32>()[31 - threadIdx.x] +
                       1000000 * outside[31 - threadIdx.x];
    })",
                                        {"reverse"}),
                              k_target);
  std::vector<unsigned> y(32);
  unsigned* out = y.data();
  kernel({.block = {32}}, out);
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(y[i], (31 - i) + 1000 * (131 - i) + 1000000 * (231 - i));
  }
}

TEST(Block, ManyThreadsKeepTheirOwnLocalMemoryAcrossBarriers) {
  const EmulatedKernel kernel(source_of(R"(
    __global__ void local(unsigned* y) {
      unsigned mine[512];
      for (unsigned i = 0; i < 512; ++i) mine[i] = threadIdx.x * 512 + i;
      __syncthreads();
      unsigned wrong = 0;
      for (unsigned i = 0; i < 512; ++i) wrong += mine[i] != threadIdx.x * 512 + i;
      y[threadIdx.x] = wrong;
    })",
                                        {"local"}),
                              k_target);
  std::vector<unsigned> y(1024, 7);
  unsigned* out = y.data();
  kernel({.block = {1024}}, out);
  EXPECT_EQ(std::accumulate(y.begin(), y.end(), 0U), 0U);
}

}  // namespace
}  // namespace kiln
