#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "kiln/error.hpp"
#include "nvrtc/jit/nvrtc_test.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::jit {
namespace {

class Compile : public NvrtcTest {};

constexpr const char* k_scale =
    "// kiln: entry scale<float>, ns::fill, plain\n"
    "template <typename T> __global__ void scale(T* y, const T* x) { y[threadIdx.x] = x[threadIdx.x] * T(2); }\n"
    "namespace ns { __global__ void fill(int* y) { __shared__ int s[64]; s[threadIdx.x % 64] = y[threadIdx.x];\n"
    "  __syncthreads(); y[threadIdx.x] = s[(threadIdx.x + 1) % 64]; } }\n"
    "extern \"C\" __global__ void plain() {}\n";

TEST_P(Compile, GivesACubinAndEverythingKnownAboutIt) {
  Artifact artifact = compile(k_scale);
  EXPECT_EQ(artifact.template_name, "test.cu");
  EXPECT_EQ(artifact.target, Target::cubin(80));
  EXPECT_EQ(artifact.kind, ImageKind::cubin);
  ASSERT_GT(artifact.image.size(), 64u);
  EXPECT_EQ(std::memcmp(artifact.image.data(),
                        "\x7f"
                        "ELF",
                        4),
            0);
  EXPECT_NE(artifact.ptx.find(".target sm_80"), std::string::npos);
  EXPECT_EQ(artifact.log, "");
  EXPECT_GT(artifact.compile_ms, 0.0);
  EXPECT_GE(artifact.compiler.major, 11);
  EXPECT_GT(artifact.compiler.build, 0);
  EXPECT_EQ(artifact.compiler, nvrtc_->identity());
}

TEST_P(Compile, NamesComeFromTheCompiler) {
  Artifact artifact = compile(k_scale);
  ASSERT_EQ(artifact.entries.size(), 3u);
  EXPECT_EQ(artifact.entries[0].expression, "scale<float>");
  EXPECT_EQ(artifact.entries[0].lowered, "_Z5scaleIfEvPT_PKS0_");
  EXPECT_EQ(artifact.entries[1].lowered, "_ZN2ns4fillEPi");
  EXPECT_EQ(artifact.entries[2].lowered, "plain");
  EXPECT_GT(artifact.entries[0].registers, 0);
  EXPECT_EQ(artifact.entries[0].spill_bytes, 0);
}

TEST_P(Compile, SharedMemoryIsTheKernelsOwnOnEveryArchitecture) {
  for (const Target& target : nvrtc_->supported()) {
    if (target.capability() < 70 || target.suffix() != '\0') {
      continue;
    }
    SCOPED_TRACE(target.text());
    Artifact artifact = compile(k_scale, {}, target);
    EXPECT_EQ(artifact.entries[0].shared_bytes, 0);
    EXPECT_EQ(artifact.entries[1].shared_bytes, 256);
    EXPECT_GT(artifact.entries[1].registers, 0);
  }
}

constexpr const char* k_heavy =
    "// kiln: entry heavy\n"
    "__global__ void heavy(float* p) { float a[40];\n"
    "  for (int i = 0; i < 40; ++i) a[i] = p[i * threadIdx.x];\n"
    "  float r = 0; for (int i = 0; i < 40; ++i) for (int j = 0; j < 40; ++j) r = r * a[i] + a[j];\n"
    "  p[threadIdx.x] = r; }\n";

TEST_P(Compile, SpillsAndStackAreTold) {
  Artifact spilling = compile(k_heavy, {.options = {"--maxrregcount=24"}});
  EXPECT_EQ(spilling.entries[0].registers, 24);
  EXPECT_GT(spilling.entries[0].spill_bytes, 100);
  EXPECT_GT(spilling.entries[0].local_bytes, 100);
  Artifact roomy = compile(k_heavy);
  EXPECT_EQ(roomy.entries[0].spill_bytes, 0);
  EXPECT_GT(roomy.entries[0].registers, 24);
}

TEST_P(Compile, TheAssemblersReportIsTheUsersOnRequestOnly) {
  EXPECT_EQ(compile(k_heavy).log, "");
  EXPECT_NE(compile(k_heavy, {.options = {"-Xptxas", "-v"}}).log.find("ptxas info"), std::string::npos);
}

TEST_P(Compile, WarningsGoToTheLog) {
  Artifact artifact = compile("// kiln: entry k\n__global__ void k() { int unused_one; }\n");
  EXPECT_NE(artifact.log.find("test.cu(2): warning"), std::string::npos) << artifact.log;
  EXPECT_EQ(artifact.log.find("ptxas"), std::string::npos) << artifact.log;
  // Again: NVRTC's own cache would swallow it.
  EXPECT_EQ(compile("// kiln: entry k\n__global__ void k() { int unused_one; }\n").log, artifact.log);
}

TEST_P(Compile, AVirtualTargetGivesPtx) {
  Artifact artifact = compile(k_scale, {}, Target::ptx(80));
  EXPECT_EQ(artifact.kind, ImageKind::ptx);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(artifact.image.data()), artifact.image.size()), artifact.ptx);
  EXPECT_NE(artifact.ptx.find(".entry plain"), std::string::npos);
  EXPECT_EQ(artifact.entries[0].lowered, "_Z5scaleIfEvPT_PKS0_");
  EXPECT_EQ(artifact.entries[0].registers, 0);
}

TEST_P(Compile, AFailureHasLogSourceAndArguments) {
  Template tmpl = Template::from_text("broken.cu",
                                      "// kiln: parameter n: u32\n"
                                      "// kiln: entry k\n"
                                      "#include \"kiln/values.h\"\n"
                                      "__global__ void k(int* p) { *p = kiln::n + missing; }\n",
                                      {.options = {"-DX=1"}});
  try {
    compile(tmpl, {{"n", 36}});
    FAIL() << "compiled";
  } catch (const CompileError& error) {
    EXPECT_EQ(error.template_name(), "broken.cu");
    EXPECT_NE(error.log().find("broken.cu(4): error: identifier \"missing\" is undefined"), std::string::npos)
        << error.log();
    EXPECT_NE(error.source().find("    4 | __global__ void k(int* p)"), std::string::npos) << error.source();
    EXPECT_NE(error.source().find("inline constexpr unsigned int n = 36u;"), std::string::npos);
    EXPECT_NE(std::find(error.arguments().begin(), error.arguments().end(), "--define-macro=X=1"),
              error.arguments().end());
    EXPECT_EQ(error.arguments()[0], "--gpu-architecture=sm_80");
    EXPECT_EQ(error.code(), ErrorCode::compile_failed);
  }
}

TEST_P(Compile, ASnippetsErrorsCountFromOneUnderItsName) {
  Template tmpl = Template::from_text("outer.cu",
                                      "// kiln: parameter ending: code\n"
                                      "// kiln: entry k\n"
                                      "__global__ void k(int* p) {\n"
                                      "#include \"kiln/code/ending.h\"\n"
                                      "}\n");
  EXPECT_EQ(compile(tmpl, {{"ending", Code{"*p = 1;"}}}).log, "");
  try {
    compile(tmpl, {{"ending", Code{"*p = 1;\n*p = missing;"}}});
    FAIL() << "compiled";
  } catch (const CompileError& error) {
    EXPECT_NE(error.log().find("kiln/code/ending.h(2): error"), std::string::npos) << error.log();
    EXPECT_NE(error.source().find("---- kiln/code/ending.h\n    1 | *p = 1;\n    2 | *p = missing;"),
              std::string::npos);
  }
}

TEST_P(Compile, AnUnknownEntryIsNamed) {
  try {
    compile(k_scale, {.entries = {"nothing_of_the_kind"}});
    FAIL() << "compiled";
  } catch (const CompileError& error) {
    EXPECT_NE(error.log().find("nothing_of_the_kind"), std::string::npos) << error.log();
  }
}

TEST_P(Compile, AnUnknownOptionIsNamedWithAllOthers) {
  try {
    compile(k_scale, {.options = {"--no-such-option=3"}});
    FAIL() << "compiled";
  } catch (const CompileError& error) {
    EXPECT_NE(error.log().find("--no-such-option"), std::string::npos) << error.log();
    EXPECT_NE(std::find(error.arguments().begin(), error.arguments().end(), "--no-such-option=3"),
              error.arguments().end());
  }
}

TEST_P(Compile, ManyThreadsAtOnceGiveWhatOneGives) {
  auto text = [](int i) {
    return "// kiln: entry k\n__global__ void k(int* p) { p[threadIdx.x] = " + std::to_string(i) + "; }\n";
  };
  constexpr int k_threads = 8;
  constexpr int k_each = 4;
  std::vector<std::string> expected;
  for (int i = 0; i < k_threads * k_each; ++i) {
    expected.push_back(compile(text(i)).ptx);
  }
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < k_threads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t * k_each; i < (t + 1) * k_each; ++i) {
        Artifact artifact = compile(text(i));
        wrong += artifact.ptx != expected[static_cast<std::size_t>(i)] || artifact.entries[0].lowered != "_Z1kPi";
      }
      wrong += nvrtc_->identity() != nvrtc_->identity();
      try {
        compile("// kiln: entry k\n#error thread " + std::to_string(t) + "\n");
        ++wrong;
      } catch (const CompileError& error) {
        wrong += error.log().find("thread " + std::to_string(t)) == std::string::npos;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(Compile, AnEntryThatIsNotThereIsNamedWithThoseThatAre) {
  TemplateOptions options;
  options.entries = {"plain", "scael<float>"};
  try {
    compile(k_scale, options);
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_STREQ(error.what(),
                 "template test.cu does not compile:\n"
                 "entry 'scael<float>' names no kernel: identifier \"scael\" is undefined\n"
                 "the kernels there are: scale, fill, plain\n");
  }
  options.entries = {"helper"};
  try {
    compile("__device__ void helper() {}\n", options);
    FAIL();
  } catch (const CompileError& error) {
    std::string said = error.what();
    EXPECT_NE(said.find("entry 'helper' names no kernel: "), std::string::npos) << said;
    EXPECT_NE(said.find("there is no kernel in the template"), std::string::npos) << said;
  }
}

KILN_NVRTC_SUITE(Compile);

TEST(NvrtcOpen, AMissNamesEveryPlace) {
  try {
    Nvrtc::open(find_nvrtc("/nonexistent/libnvrtc.so"));
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::nvrtc_unavailable);
    EXPECT_NE(std::string(error.what()).find("/nonexistent/libnvrtc.so"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("KILN_NVRTC"), std::string::npos);
  }
}

TEST(NvrtcOpen, WhatIsNoLibraryIsNamed) {
  test::TempDir dir;
  test::write_file(dir / "libnvrtc.so", "not a library");
  try {
    Nvrtc::open(find_nvrtc(dir / "libnvrtc.so"));
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::nvrtc_unavailable);
    EXPECT_NE(std::string(error.what()).find((dir / "libnvrtc.so").string()), std::string::npos);
  }
}

TEST(NvrtcOpen, AnotherLibraryIsNoNvrtc) {
  // The C library is on every machine, and has no nvrtcVersion.
  for (const char* file : {"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib64/libc.so.6"}) {
    if (std::filesystem::exists(file)) {
      try {
        Nvrtc::open(find_nvrtc(file));
        ADD_FAILURE() << "opened";
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("has no nvrtcVersion"), std::string::npos);
      }
      return;
    }
  }
  GTEST_SKIP() << "no libc.so.6 in the usual places";
}

}  // namespace
}  // namespace kiln::jit
