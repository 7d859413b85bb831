// Warp operations of an emulated kernel.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
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

const Target k_target = Target::parse("sm_90");

/// Runs `body`, which sets y[threadIdx.x], with one block of `threads`.
std::vector<unsigned> run(const std::string& body, unsigned threads = 32) {
  const EmulatedKernel kernel(
      source_of("__global__ void body(unsigned* y) {\n const unsigned t = threadIdx.x;\n" + body + "\n}", {"body"}),
      k_target);
  std::vector<unsigned> y(threads, 0);
  unsigned* out = y.data();
  kernel({.block = {threads}}, out);
  return y;
}

TEST(Warp, ShufflesFollowWidth) {
  const auto y = run(R"(
    y[t] = __shfl_sync(~0u, t, 3) + 100 * __shfl_sync(~0u, t, 9, 8) + 10000 * __shfl_up_sync(~0u, t, 2, 16) +
           1000000 * __shfl_down_sync(~0u, t, 3, 4);)");
  for (unsigned t = 0; t < 32; ++t) {
    const unsigned ninth = t / 8 * 8 + 1;
    const unsigned up = t % 16 < 2 ? t : t - 2;
    const unsigned down = t % 4 == 0 ? t + 3 : t;
    EXPECT_EQ(y[t], 3 + 100 * ninth + 10000 * up + 1000000 * down) << t;
  }
}

TEST(Warp, ShuffleXorStaysBelowTheEndOfItsSegment) {
  const auto y = run("y[t] = __shfl_xor_sync(~0u, t, 5) + 100 * __shfl_xor_sync(~0u, t, 4, 4);");
  for (unsigned t = 0; t < 32; ++t) {
    const unsigned narrow = (t & 4) != 0 ? t ^ 4 : t;  // a source in a later segment is refused, in an earlier one not
    EXPECT_EQ(y[t], (t ^ 5) + 100 * narrow) << t;
  }
}

TEST(Warp, ShufflesCarryEveryTypeWhole) {
  const auto y = run(R"(
    const double d = __shfl_sync(~0u, t + 0.5, 31 - t);
    const float f = __shfl_sync(~0u, t + 0.25f, 31 - t);
    const long long l = __shfl_sync(~0u, (long long)t << 40, 31 - t);
    const int i = __shfl_sync(~0u, -(int)t, 31 - t);
    y[t] = d == 31 - t + 0.5 && f == 31 - t + 0.25f && l == (31ll - t) << 40 && i == (int)t - 31;)");
  EXPECT_EQ(y, std::vector<unsigned>(32, 1));
}

TEST(Warp, RepeatedOperationsNeverMixUp) {
  // A lane that runs ahead by one operation must not change what the others still read.
  const auto y = run(R"(
    unsigned sum = 0;
    for (unsigned i = 0; i < 100; ++i) sum = sum * 3 + __shfl_sync(~0u, t * 1000 + i, (t + i) % 32);
    unsigned expected = 0;
    for (unsigned i = 0; i < 100; ++i) expected = expected * 3 + (t / 32 * 32 + (t + i) % 32) * 1000 + i;
    y[t] = sum == expected;)",
                     96);
  EXPECT_EQ(y, std::vector<unsigned>(96, 1));
}

TEST(Warp, GroupsOfLanesGoOnByThemselves) {
  const auto y = run(R"(
    if (t % 2 == 0) {
      for (unsigned i = 0; i < 10; ++i) y[t] += __reduce_add_sync(0x55555555u, t);
    } else {
      y[t] = __reduce_max_sync(0xaaaaaaaau, t);
    }
    __syncwarp();
    y[t] += 1000 * __popc(__activemask());
    __syncwarp();)");
  for (unsigned t = 0; t < 32; ++t) {
    EXPECT_EQ(y[t], (t % 2 == 0 ? 2400U : 31U) + 32000);
  }
}

TEST(Warp, VotesSeeTheLanesThatAreLeft) {
  const auto y = run(R"(
    if (t >= 20) return;
    y[t] = (__ballot_sync(~0u, t % 3 == 0) == 0x49249u) + 10 * __any_sync(~0u, t == 19) + 100 * __any_sync(~0u, t == 20) +
           1000 * __all_sync(~0u, t < 20) + 10000 * __all_sync(~0u, t < 19) + 100000 * __uni_sync(~0u, t < 19) +
           1000000 * __uni_sync(~0u, 0);)");
  for (unsigned t = 0; t < 32; ++t) {
    EXPECT_EQ(y[t], t < 20 ? 1001011U : 0U) << t;
  }
}

TEST(Warp, MatchFindsEqualValues) {
  const auto y = run(R"(
    int all = -1;
    const unsigned some = __match_all_sync(~0u, t, &all);
    const int different = all;
    const unsigned same = __match_all_sync(~0u, 7.5f, &all);
    y[t] = (__match_any_sync(~0u, t % 5 == 2 ? 1ull << 40 : 0ull) == (t % 5 == 2 ? 0x08421084u : ~0x08421084u)) +
           10 * (some == 0 && different == 0) + 100 * (same == ~0u && all == 1);)");
  EXPECT_EQ(y, std::vector<unsigned>(32, 111));
}

TEST(Warp, ReductionsOfBothSigns) {
  const auto y = run(R"(
    const int i = (int)t - 16;
    y[t] = __reduce_add_sync(~0u, i) == -16 && __reduce_min_sync(~0u, i) == -16 && __reduce_max_sync(~0u, i) == 15 &&
           __reduce_min_sync(~0u, (unsigned)i) == 0u && __reduce_max_sync(~0u, (unsigned)i) == ~0u &&
           __reduce_and_sync(~0u, t | 96u) == 96u && __reduce_or_sync(~0u, t) == 31u &&
           __reduce_xor_sync(~0u, t == 5 ? 9u : 0u) == 9u;)");
  EXPECT_EQ(y, std::vector<unsigned>(32, 1));
}

TEST(Warp, LanesAreCountedThroughAllDimensions) {
  const EmulatedKernel kernel(source_of(R"(
    __global__ void lanes(unsigned* y) {
      const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
      y[t] = __shfl_xor_sync(~0u, t, 1);
    })",
                                        {"lanes"}),
                              k_target);
  std::vector<unsigned> y(96);
  unsigned* out = y.data();
  kernel({.block = {6, 4, 4}}, out);
  for (unsigned t = 0; t < 96; ++t) {
    EXPECT_EQ(y[t], t ^ 1);
  }
}

TEST(Warp, ValueOfALaneThatTakesNoPartIsGarbage) {
  const auto y = run("if (t < 16) y[t] = __shfl_sync(0xffffu, t, 20);");
  for (unsigned t = 0; t < 16; ++t) {
    EXPECT_EQ(y[t], 0xDBDBDBDBU);
  }
}

TEST(Warp, MaskWithoutItsCallerIsAnError) {
  try {
    run("y[t] = __shfl_sync(0xfffffffeu, t, 1);");
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("leaves out its caller"), HasSubstr("__shfl_sync"),
                                    HasSubstr("thread (0, 0, 0)"), HasSubstr("test.cu:3")));
  }
}

TEST(Warp, LanesInDifferentOperationsWaitForEver) {
  try {
    run("if (t == 4) {\n __syncwarp();\n } else {\n y[t] = __any_sync(~0u, 1);\n }");
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("wait for ever"), HasSubstr("__any_sync"), HasSubstr("__syncwarp")));
  }
}

}  // namespace
}  // namespace kiln
