#include "kiln/kernel.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "gpu/kernel_fixture.hpp"
#include "jit/driver.hpp"
#include "jit/launch.hpp"
#include "jit/library.hpp"
#include "kiln/error.hpp"

namespace kiln {
namespace {

using test::DeviceArray;
using test::KernelTest;
using ::testing::HasSubstr;

TEST_F(KernelTest, LaunchesWhatWasCompiled) {
  Kernel kernel = get_scale(2.5F);
  EXPECT_EQ(run(kernel), times(2.5F, ramp(1000)));
  EXPECT_EQ(kernel.entry().expression, "scale");
  EXPECT_EQ(kernel.artifact().target.capability(), gpu().capability());
  EXPECT_NE(kernel.function(), nullptr);
}

TEST_F(KernelTest, ArgumentsAreCheckedBeforeTheLaunch) {
  if (gpu().driver_version() < 12040) {
    GTEST_SKIP() << "the driver tells parameter sizes from CUDA 12.4 on";
  }
  Kernel kernel = get_scale(2.0F);
  DeviceArray<float> y(4);
  try {
    kernel.launch(over(4), y.get(), y.get());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("takes 3 arguments, but was given 2"));
  }
  try {
    kernel.launch(over(4), y.get(), y.get(), std::uint64_t{4});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("argument 3 of 3"));
    EXPECT_THAT(error.what(), HasSubstr("has 8 bytes, but the parameter has 4"));
  }
}

TEST_F(KernelTest, StructsAndManyParametersPassTheCheck) {
  Template tmpl =
      Template::from_text("sum.cu",
                          "// kiln: entry sum\n"
                          "struct Odd { double a; char b; };\n"
                          "struct __align__(16) Wide { float v[4]; };\n"
                          "__global__ void sum(double* y, Odd odd, bool flag, short s, Wide w, long long l) {\n"
                          "  *y = odd.a + odd.b + flag + s + w.v[3] + l;\n"
                          "}\n");
  struct Odd {
    double a;
    char b;
  };
  struct alignas(16) Wide {
    float v[4];
  };
  DeviceArray<double> y(1);
  service.get(tmpl, {}).launch({}, y.get(), Odd{0.5, 1}, true, short{2}, Wide{{0, 0, 0, 4}}, 8LL);
  EXPECT_EQ(y.read(), std::vector<double>{16.5});
}

TEST_F(KernelTest, ARefusedLaunchNamesTheKernelAndLeavesTheContextUsable) {
  Kernel kernel = get_scale(2.0F);
  DeviceArray<float> y(4);
  LaunchConfig config;
  config.block.x = 2048;
  try {
    kernel.launch(config, y.get(), y.get(), 4U);
    FAIL();
  } catch (const DriverError& error) {
    EXPECT_EQ(error.call(), "cuLaunchKernel");
    EXPECT_EQ(error.result_name(), "CUDA_ERROR_INVALID_VALUE");
    EXPECT_THAT(error.object(), HasSubstr("kernel 'scale' of template scale.cu"));
    EXPECT_THAT(error.object(), HasSubstr("block {2048, 1, 1}"));
  }
  EXPECT_EQ(run(kernel), times(2.0F, ramp(1000)));
}

TEST_F(KernelTest, ClustersAreLaunched) {
  if (gpu().capability() < 90) {
    GTEST_SKIP() << "clusters need sm_90";
  }
  Template tmpl = Template::from_text("cluster.cu",
                                      "// kiln: entry cluster_size\n"
                                      "__global__ void cluster_size(unsigned* y) {\n"
                                      "  unsigned size, rank;\n"
                                      "  asm volatile(\"mov.u32 %0, %%cluster_nctaid.x;\" : \"=r\"(size));\n"
                                      "  asm volatile(\"mov.u32 %0, %%cluster_ctaid.x;\" : \"=r\"(rank));\n"
                                      "  y[blockIdx.x] = size * 10 + rank;\n"
                                      "}\n");
  Kernel kernel = service.get(tmpl, {});
  DeviceArray<unsigned> y(8);
  LaunchConfig config;
  config.grid.x = 8;
  config.cluster.x = 4;
  kernel.launch(config, y.get());
  EXPECT_EQ(y.read(), (std::vector<unsigned>{40, 41, 42, 43, 40, 41, 42, 43}));
  config.cluster.x = 3;
  try {
    kernel.launch(config, y.get());
    FAIL() << "8 blocks are not divisible into clusters of 3";
  } catch (const DriverError& error) {
    EXPECT_THAT(error.object(), HasSubstr("cluster {3, 1, 1}"));
  }
}

TEST_F(KernelTest, DynamicSharedMemoryBeyond48KiBHasToBeAllowed) {
  Template tmpl = Template::from_text("shared.cu",
                                      "// kiln: entry last_word\n"
                                      "extern __shared__ unsigned words[];\n"
                                      "__global__ void last_word(unsigned* y, unsigned n) {\n"
                                      "  words[n - 1] = 7;\n"
                                      "  *y = words[n - 1];\n"
                                      "}\n");
  Kernel kernel = service.get(tmpl, {});
  DeviceArray<unsigned> y(1);
  LaunchConfig config;
  config.shared_bytes = 60 * 1024;  // every device that Kiln knows has 64 KiB or more
  try {
    kernel.launch(config, y.get(), config.shared_bytes / 4);
    FAIL();
  } catch (const DriverError& error) {
    EXPECT_THAT(error.object(), HasSubstr("allow_shared_bytes"));
  }
  kernel.allow_shared_bytes(config.shared_bytes);
  kernel.launch(config, y.get(), config.shared_bytes / 4);
  EXPECT_EQ(y.read(), std::vector<unsigned>{7});
  try {
    kernel.allow_shared_bytes(1U << 30);
    FAIL();
  } catch (const DriverError& error) {
    EXPECT_EQ(error.call(), "cuFuncSetAttribute");
    EXPECT_THAT(error.object(), HasSubstr("1073741824 bytes"));
  }
}

TEST_F(KernelTest, ModuleDataIsThereBeforeTheFirstLaunchOnAnyStream) {
  Template tmpl = Template::from_text("table.cu",
                                      "// kiln: entry copy_table\n"
                                      "extern \"C\" { __device__ unsigned table[262144]; }\n"
                                      "__global__ void copy_table(unsigned* y) {\n"
                                      "  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                      "  y[i] = table[i];\n"
                                      "}\n");
  std::vector<unsigned> table(262144);
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<unsigned>(i * 2654435761U);
  }
  test::GpuStream stream(/*non_blocking=*/true);
  DeviceArray<unsigned> y(table.size());
  service.get(tmpl, {}, Target::native(), {"table", std::as_bytes(std::span(table))})
      .launch(over(table.size(), stream.get()), y.get());
  EXPECT_EQ(y.read(), table);
  std::vector<unsigned> larger(table.size() + 1);
  try {
    Service fresh(options());
    fresh.get(tmpl, {}, Target::native(), {"table", std::as_bytes(std::span(larger))});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("1048576 bytes"));
    EXPECT_THAT(error.what(), HasSubstr("1048580"));
  }
}

TEST_F(KernelTest, PtxOfAnOlderArchitectureRuns) {
  EXPECT_EQ(run(get_scale(3.0F, Target::ptx(75))), times(3.0F, ramp(1000)));
}

TEST_F(KernelTest, ACubinForAnotherDeviceIsRefusedBeforeItIsLoaded) {
  auto driver = jit::Driver::open();
  Artifact artifact = get_scale(2.0F).artifact();
  artifact.ptx.clear();
  for (int capability : {75, 80, 90, 100, 120}) {
    if (capability / 10 == gpu().capability() / 10) {
      continue;
    }
    artifact.target = Target::cubin(capability);
    try {
      jit::load(driver, std::make_shared<Artifact>(artifact), "", {});
      FAIL() << artifact.target.text();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported_target);
      EXPECT_THAT(error.what(), HasSubstr(artifact.target.text()));
    }
  }
}

TEST_F(KernelTest, UnusableImagesAreImageErrors) {
  auto driver = jit::Driver::open();
  const Artifact good = get_scale(2.0F).artifact();
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::string program{std::istreambuf_iterator<char>(file), {}};
  auto bytes = std::as_bytes(std::span(program));

  Artifact truncated = good;
  truncated.image.resize(truncated.image.size() / 2);
  Artifact foreign = good;
  foreign.image.assign(bytes.begin(), bytes.end());
  Artifact renamed = good;
  renamed.entries.at(0).lowered = "no_such_kernel";
  Artifact broken_ptx = good;
  broken_ptx.kind = ImageKind::ptx;
  broken_ptx.target = Target::ptx(75);
  std::string_view text = ".version 6.4\n.target sm_75\n.address_size 64\nthis is no PTX\n";
  broken_ptx.image.assign(reinterpret_cast<const std::byte*>(text.data()),
                          reinterpret_cast<const std::byte*>(text.data() + text.size()));
  for (const Artifact& artifact : {truncated, foreign, renamed, broken_ptx}) {
    try {
      jit::load(driver, std::make_shared<Artifact>(artifact), "", {});
      ADD_FAILURE() << "loaded " << artifact.image.size() << " bytes";
    } catch (const DriverError& error) {
      EXPECT_TRUE(jit::is_image_error(error.result())) << error.what();
      RecordProperty(error.call(), error.what());
    }
  }
  EXPECT_EQ(run(get_scale(2.0F)), times(2.0F, ramp(1000)));
}

}  // namespace
}  // namespace kiln
