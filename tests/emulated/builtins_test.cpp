// CUDA's types and functions as an emulated kernel sees them. Expected values are CUDA's documented ones.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kiln/emulator.hpp"
#include "support/emulation_batch.hpp"

namespace kiln {
namespace {

using testing::source_of;

/// Compiles `text` for `target`: its static_asserts are the test.
void compiles(const std::string& text, const char* target = "sm_90") {
  EXPECT_NO_THROW(
      EmulatedKernel(source_of(text + "\n__global__ void nothing() {}", {"nothing"}), Target::parse(target)));
}

/// Each expression in turn must be true.
void all_true(const std::vector<std::string>& expressions) {
  std::string text = "__global__ void test(bool* y) {\n";
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    text += "  y[" + std::to_string(i) + "] = (" + expressions[i] + ");\n";
  }
  const EmulatedKernel kernel(source_of(text + "}", {"test"}), Target::parse("sm_90"));
  std::vector<unsigned char> y(expressions.size(), 0);
  unsigned char* out = y.data();
  kernel({}, out);
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    EXPECT_EQ(y[i], 1) << expressions[i];
  }
}

TEST(Builtins, VectorTypesHaveCudasSizesAndAlignments) {
  compiles(R"(
    template <typename T, int Size, int Alignment> struct Is { static_assert(sizeof(T) == Size && alignof(T) == Alignment); };
    template struct Is<char1, 1, 1>; template struct Is<char2, 2, 2>; template struct Is<char3, 3, 1>;
    template struct Is<char4, 4, 4>; template struct Is<uchar1, 1, 1>; template struct Is<uchar2, 2, 2>;
    template struct Is<uchar3, 3, 1>; template struct Is<uchar4, 4, 4>; template struct Is<short1, 2, 2>;
    template struct Is<short2, 4, 4>; template struct Is<short3, 6, 2>; template struct Is<short4, 8, 8>;
    template struct Is<ushort2, 4, 4>; template struct Is<ushort3, 6, 2>; template struct Is<ushort4, 8, 8>;
    template struct Is<int1, 4, 4>; template struct Is<int2, 8, 8>; template struct Is<int3, 12, 4>;
    template struct Is<int4, 16, 16>; template struct Is<uint2, 8, 8>; template struct Is<uint3, 12, 4>;
    template struct Is<uint4, 16, 16>; template struct Is<float2, 8, 8>; template struct Is<float3, 12, 4>;
    template struct Is<float4, 16, 16>; template struct Is<long1, 8, 8>; template struct Is<long2, 16, 16>;
    template struct Is<long3, 24, 8>; template struct Is<long4, 32, 16>; template struct Is<ulonglong2, 16, 16>;
    template struct Is<longlong3, 24, 8>; template struct Is<ulonglong4, 32, 16>; template struct Is<double1, 8, 8>;
    template struct Is<double2, 16, 16>; template struct Is<double3, 24, 8>; template struct Is<double4, 32, 16>;
    template struct Is<double4_16a, 32, 16>; template struct Is<double4_32a, 32, 32>;
    template struct Is<ulonglong4_32a, 32, 32>; template struct Is<dim3, 12, 4>;
    struct __align__(8) Pair { unsigned short a; unsigned short b; };
    template struct Is<Pair, 8, 8>;)");
}

TEST(Builtins, MacrosSayWhatIsCompiledFor) {
  compiles("static_assert(__CUDA_ARCH__ == 800 && __CUDACC_RTC__ && __CUDACC__ && KILN_EMULATION);", "sm_80");
  compiles("static_assert(__CUDA_ARCH__ == 900);", "sm_90a");
  compiles("static_assert(__CUDA_ARCH__ == 1000);", "compute_100");
}

TEST(Builtins, KeywordsAreTaken) {
  compiles(R"(
    __constant__ float numbers[4] = {1, 2, 3, 4};
    __device__ unsigned counter;
    __device__ __forceinline__ int twice(int x) { return 2 * x; }
    static __device__ __noinline__ int thrice(int x) { return 3 * x; }
    __host__ __device__ constexpr int four() { return 4; }
    struct Arguments { int a; float b; };
    template <typename T> __global__ void __launch_bounds__(256, 2)
    keywords(T* __restrict__ y, const __grid_constant__ Arguments arguments) {
      *y = twice(arguments.a) + thrice(1) + four() + numbers[3];
    }
    template __global__ void keywords<float>(float*, const __grid_constant__ Arguments);)");
}

TEST(Builtins, BitFunctions) {
  all_true({"__popc(0xf0f0u) == 8",
            "__popcll(~0ull) == 64",
            "__clz(0) == 32",
            "__clz(1) == 31",
            "__clz(-1) == 0",
            "__clzll(0) == 64",
            "__clzll(1) == 63",
            "__ffs(0) == 0",
            "__ffs(8) == 4",
            "__ffsll(1ll << 40) == 41",
            "__brev(1u) == 0x80000000u",
            "__brev(0x12345678u) == 0x1e6a2c48u",
            "__brevll(1ull) == 1ull << 63",
            "__byte_perm(0x33221100u, 0x77665544u, 0x6420u) == 0x66442200u",
            "__byte_perm(0x33221100u, 0x77665544u, 0x0123u) == 0x00112233u",
            "__funnelshift_l(0x80000001u, 0x12345678u, 4) == 0x23456788u",
            "__funnelshift_l(5u, 7u, 32) == 7u",
            "__funnelshift_lc(5u, 7u, 32) == 5u",
            "__funnelshift_r(0x80000001u, 0x12345678u, 4) == 0x88000000u",
            "__funnelshift_rc(5u, 7u, 40) == 7u"});
}

TEST(Builtins, IntegerFunctions) {
  all_true({"__umulhi(0x80000000u, 6u) == 3u", "__mulhi(-1, 1) == -1", "__umul64hi(1ull << 63, 6ull) == 3ull",
            "__mul64hi(-1ll, 1ll) == -1ll", "__mul24(-3, 5) == -15", "__umul24(0xff000003u, 5u) == 15u",
            "__sad(-3, 4, 10u) == 17u", "__usad(3u, 9u, 1u) == 7u", "__dp4a(0x01010101u, 0x04030201u, 5u) == 15u",
            "__dp4a((int)0xffffffff, 0x01010101, 0) == -4", "min(-1, 2) == -1", "max(-1, 2) == 2", "min(3u, 4u) == 3u",
            "max(3ull, 4ull) == 4ull", "min(-1, 3u) == 3u", "min(1l, 2l) == 1", "abs(-5) == 5", "warpSize == 32",
            "sizeof(size_t) == 8"});
}

TEST(Builtins, FloatFunctions) {
  all_true({"fminf(1.f, 2.f) == 1.f",
            "max(1.f, 2.f) == 2.f",
            "min(1.0, 2.0) == 1.0",
            "sqrtf(9.f) == 3.f",
            "sqrt(9.0) == 3.0",
            "sqrt(9.f) == 3.f",
            "rsqrtf(0.25f) == 2.f",
            "fabsf(-2.f) == 2.f",
            "abs(-2.5) == 2.5",
            "floorf(-1.5f) == -2.f",
            "truncf(-1.5f) == -1.f",
            "rintf(2.5f) == 2.f",
            "fmaf(2.f, 3.f, 4.f) == 10.f",
            "fma(2.0, 3.0, 4.0) == 10.0",
            "expf(0.f) == 1.f",
            "__expf(0.f) == 1.f",
            "powf(2.f, 10.f) == 1024.f",
            "isnan(__int_as_float(0x7fc00000))",
            "isinf(__uint_as_float(0x7f800000u))",
            "signbit(-0.0f)",
            "__float_as_uint(1.f) == 0x3f800000u",
            "__double_as_longlong(1.0) == 0x3ff0000000000000ll",
            "__longlong_as_double(0x4000000000000000ll) == 2.0",
            "__float2int_rn(2.5f) == 2",
            "__float2int_rd(-0.5f) == -1",
            "__fdividef(1.f, 4.f) == 0.25f",
            "__saturatef(7.f) == 1.f",
            "__frcp_rn(4.f) == 0.25f",
            "copysignf(1.f, -2.f) == -1.f"});
}

TEST(Builtins, MemoryFunctionsAndAtomics) {
  const EmulatedKernel kernel(source_of(R"(
    struct Bits { unsigned* y; unsigned old; };
    __global__ void memory(uint4* y, const uint4* x, unsigned* counters, float* real) {
      uint4 v = __ldg(x);
      v.x += __ldcs(x).x + __ldcg(x).x + __ldca(x).x + __ldlu(x).x + __ldcv(x).x;
      __stcs(y, v); __stcg(y + 1, v); __stwb(y + 2, v); __stwt(y + 3, v);
      atomicAdd(&counters[0], 1); atomicSub(&counters[1], 1); atomicMax(&counters[2], threadIdx.x);
      atomicMin(&counters[3], threadIdx.x); atomicInc(&counters[4], 4); atomicDec(&counters[5], 4);
      atomicAnd(&counters[6], ~(1u << threadIdx.x)); atomicOr(&counters[7], 1u << threadIdx.x);
      atomicXor(&counters[8], 1u << threadIdx.x % 2); atomicCAS(&counters[9], threadIdx.x, threadIdx.x + 1);
      atomicExch_block(&counters[10], threadIdx.x); atomicAdd_system(real, 0.5f);
      __threadfence(); __threadfence_block(); __threadfence_system(); __nanosleep(5);
    })",
                                        {"memory"}),
                              Target::parse("sm_90"));
  alignas(16) std::uint32_t y[16] = {};
  alignas(16) std::uint32_t x[4] = {1, 2, 3, 4};
  std::vector<unsigned> counters = {0, 100, 0, 100, 0, 0, ~0U, 0, 0, 0, 0};
  float real = 0;
  std::uint32_t* out = y;
  const std::uint32_t* in = x;
  unsigned* counter = counters.data();
  float* sum = &real;
  kernel({.block = {16}}, out, in, counter, sum);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(y[4 * i], 6U);
    EXPECT_EQ(y[4 * i + 3], 4U);
  }
  // atomicInc counts 0 … 4 and around; atomicDec 0, 4, 3, 2, 1 and around.
  EXPECT_EQ(counters, (std::vector<unsigned>{16, 84, 15, 0, 1, 4, 0xffff0000, 0xffff, 0, 16, 15}));
  EXPECT_EQ(real, 8.0F);
}

TEST(Builtins, ClocksGoOnAndSharedAddressesCountFromTheStart) {
  const EmulatedKernel kernel(source_of(R"(
    __global__ void test(bool* y) {
      extern __shared__ int tile[];
      const long long then = clock64();
      y[0] = clock64() > then && clock() > 0;
      y[1] = __cvta_generic_to_shared(tile + 3) == 12;
    })",
                                        {"test"}),
                              Target::parse("sm_90"));
  bool y[2] = {};
  bool* out = y;
  kernel({.shared_bytes = 64}, out);
  EXPECT_TRUE(y[0]);
  EXPECT_TRUE(y[1]);
}

}  // namespace
}  // namespace kiln
