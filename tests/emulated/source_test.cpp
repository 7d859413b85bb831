// From a source to a loaded library: headers, options, names, and what goes wrong on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kiln/emulator.hpp"
#include "kiln/error.hpp"
#include "support/emulation_batch.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::source_of;

const Target k_target = Target::parse("sm_90");

/// Sets an environment variable for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* old = std::getenv(name);
    if (old != nullptr) {
      old_ = old;
    }
    setenv(name, value, 1);
  }
  ~Variable() {
    if (old_) {
      setenv(name_, old_->c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

unsigned value_of(const Source& source) {
  const EmulatedKernel kernel(source, k_target);
  unsigned y = 0;
  unsigned* out = &y;
  kernel({}, out);
  return y;
}

std::string error_of(const Source& source) {
  try {
    const EmulatedKernel kernel(source, k_target);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::host_compiler);
    return error.what();
  }
  return "no error";
}

const char* const k_simple = "__global__ void one(unsigned* y) { *y = 1; }";

TEST(EmulatedSource, HeadersAreFoundByNameBesideTheirIncluderAndAbove) {
  EXPECT_EQ(
      value_of(source_of(R"(
      #include "kiln/values.h"
      #include <deep/er/outer.cuh>
      __global__ void sum(unsigned* y) { *y = kiln::n + outer(); })",
                         {"sum"},
                         {{"kiln/values.h", "#pragma once\nnamespace kiln { inline constexpr unsigned n = 1000; }"},
                          {"deep/er/outer.cuh",
                           "#pragma once\n#include \"inner.cuh\"\n#include \"../up.cuh\"\n"
                           "#include \"../../../top.cuh\"\n"
                           "__device__ unsigned outer() { return inner + up + top; }"},
                          {"deep/er/inner.cuh", "constexpr unsigned inner = 1;"},
                          {"deep/up.cuh", "constexpr unsigned up = 10;"},
                          {"../top.cuh", "constexpr unsigned top = 100;"}})),
      1111U);
}

TEST(EmulatedSource, HeaderNameThatLeadsOutIsRefused) {
  EXPECT_THAT(error_of(source_of(k_simple, {"one"}, {{"/tmp/kiln-planted.h", ""}})), HasSubstr("/tmp/kiln-planted.h"));
  EXPECT_FALSE(std::filesystem::exists("/tmp/kiln-planted.h"));
  EXPECT_THAT(error_of(source_of(k_simple, {"one"}, {{"../../../../../../../../../../../../x.h", ""}})),
              HasSubstr("leads out"));
}

TEST(EmulatedSource, MacroOptionsReachTheSourceAndOthersAreLeftOut) {
  Source source = source_of(
      "__global__ void options(unsigned* y) {\n#ifdef GONE\n *y = 0;\n#else\n"
      " *y = A + B + C + D + E + F + G + H;\n#endif\n}",
      {"options"});
  source.options = {"-DA=1",      "-D",
                    "B=20",       "--define-macro=C=300",
                    "-DD",        "-D E=4000",
                    "-D=F=50000", "--define-macro",
                    "G=600000",   "-define-macro H=7000000",
                    "-DGONE",     "--undefine-macro",
                    "GONE",       "--use_fast_math",
                    "-lineinfo",  "-default-device"};
  EXPECT_EQ(value_of(source), 7654322U);
}

TEST(EmulatedSource, SourceSeesNoHeadersOfTheHost) {
  EXPECT_THAT(error_of(source_of(std::string("#include <stdint.h>\n") + k_simple, {"one"})), HasSubstr("stdint.h"));
}

TEST(EmulatedSource, RefusedSourceGivesCommandLineAndMessage) {
  EXPECT_THAT(
      error_of(source_of("\n\n__global__ void broken(unsigned* y) { *y = undeclared; }", {"broken"})),
      AllOf(HasSubstr("refused"), HasSubstr("-D__CUDA_ARCH__=900"), HasSubstr("test.cu:3"), HasSubstr("undeclared")));
}

TEST(EmulatedSource, EntryThatIsMissingOrNoKernelIsNamed) {
  EXPECT_THAT(error_of(source_of(k_simple, {"one", "two"})), AllOf(HasSubstr("entry 1"), HasSubstr("two")));
  EXPECT_THAT(error_of(source_of("__device__ int value(int x) { return x; }", {"value"})), HasSubstr("entry 0"));
}

TEST(EmulatedSource, NoEntryAndNativeTargetAreRefused) {
  EXPECT_THROW(EmulatedKernel(source_of(k_simple, {}), k_target), Error);
  try {
    const EmulatedKernel kernel(source_of(k_simple, {"one"}), Target::native());
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), HasSubstr("sm_90"));
  }
}

TEST(EmulatedSource, NoCompilerNamesAllThatWereTried) {
  const Variable path("PATH", "/nonexistent");
  const Variable chosen("KILN_HOST_CXX", "");
  const Variable usual("CXX", "my-compiler");
  EXPECT_THAT(error_of(source_of(k_simple, {"one"})),
              AllOf(HasSubstr("my-compiler, g++, clang++-19, clang++, c++"), HasSubstr("KILN_HOST_CXX")));
}

TEST(EmulatedSource, WithoutAPathNoCompilerIsTakenFromTheCurrentFolder) {
  const test::TempDir folder;
  for (const char* name : {"g++", "clang++-19", "clang++", "c++"}) {
    test::write_file(folder / name, "#!/bin/sh\necho planted > \"$0.ran\"\nexit 1\n");
    std::filesystem::permissions(folder / name, std::filesystem::perms::owner_all);
  }
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  {
    const Variable path("PATH", "");
    const Variable chosen("KILN_HOST_CXX", "");
    const Variable usual("CXX", "");
    try {
      const EmulatedKernel kernel(source_of(k_simple, {"one"}), k_target);
    } catch (const Error&) {  // that compiler may find no linker without a PATH
    }
  }
  std::filesystem::current_path(before);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_NE(entry.path().extension(), ".ran") << entry.path();
  }
}

TEST(EmulatedSource, ChosenCompilerIsTakenAndNoOther) {
  {
    const Variable chosen("KILN_HOST_CXX", "/nonexistent/c++");
    EXPECT_THAT(error_of(source_of(k_simple, {"one"})), HasSubstr("/nonexistent/c++"));
  }
  const Variable chosen("KILN_HOST_CXX", "/bin/false");
  EXPECT_THAT(error_of(source_of(k_simple, {"one"})), AllOf(HasSubstr("/bin/false"), HasSubstr("status 1")));
}

TEST(EmulatedSource, AProgramThatIsNoCompilerIsTold) {
  const Variable chosen("KILN_HOST_CXX", "/bin/true");
  EXPECT_THAT(error_of(source_of(k_simple, {"one"})),
              AllOf(HasSubstr("the host compiler '/bin/true' ended well and made no library"),
                    HasSubstr("set KILN_HOST_CXX to g++ or clang++")));
}

TEST(EmulatedSource, CompilesWithEveryCompilerOfThisMachine) {
  for (const char* compiler : {"clang++-19", "g++"}) {
    const Variable chosen("KILN_HOST_CXX", compiler);
    try {
      EXPECT_EQ(value_of(source_of(k_simple, {"one"})), 1U) << compiler;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("is no program")) << compiler;
    }
  }
}

TEST(EmulatedSource, NothingStaysInTheTemporaryFolder) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("kiln-workspace-test-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  {
    const Variable temporary("TMPDIR", folder.c_str());
    const EmulatedKernel kernel(source_of(k_simple, {"one"}), k_target);
    EXPECT_TRUE(std::filesystem::is_empty(folder));
    EXPECT_NE(error_of(source_of("broken", {"one"})), "no error");
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
  std::filesystem::remove_all(folder);
}

TEST(EmulatedSource, TemporaryFolderThatCannotBeUsedIsNamed) {
  const Variable temporary("TMPDIR", "/proc");
  EXPECT_THAT(error_of(source_of(k_simple, {"one"})), AllOf(HasSubstr("/proc"), HasSubstr("TMPDIR")));
}

}  // namespace
}  // namespace kiln
