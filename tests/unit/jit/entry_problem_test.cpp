#include "jit/entry_problem.hpp"

#include <gtest/gtest.h>

namespace kiln::jit {
namespace {

Source source_of(std::string text, std::vector<std::string> entries) {
  Source source;
  source.name = "t.cu";
  source.text = std::move(text);
  source.entries = std::move(entries);
  return source;
}

// As NVRTC 13.0 writes it.
constexpr const char* k_log =
    "t.cu(1): warning #177-D: variable \"x\" was declared but never referenced\n"
    "__nv_name_map(3): error: identifier \"nope\" is undefined\n"
    "  #pragma nv_mangled_name nope<3>\n"
    "                          ^\n\n"
    "__nv_name_map(3): error: expected an expression\n"
    "__nv_name_map(3): error: Error in parsing name expression for lowered name lookup. Input name expression was: \""
    " nope < 3 >\"\n\n3 errors detected in the compilation of \"t.cu\".\n";

TEST(EntryProblem, NamesTheEntryTheReasonAndTheKernels) {
  Source source = source_of("__global__ void a() {}\n", {"a", "nope<3>"});
  source.headers = {{"x.h", "template <int N> __global__ void __launch_bounds__(N * (2)) b(int (*f)(int)) {}"}};
  EXPECT_EQ(entry_problem(k_log, source),
            "entry 'nope<3>' names no kernel: identifier \"nope\" is undefined\nthe kernels there are: a, b\n");
}

TEST(EntryProblem, SaysWhenThereIsNoKernel) {
  EXPECT_EQ(entry_problem(k_log, source_of("__device__ int a;", {"a", "nope<3>"})),
            "entry 'nope<3>' names no kernel: identifier \"nope\" is undefined\nthere is no kernel in the template\n");
}

TEST(EntryProblem, LeavesOtherErrorsToTheLog) {
  Source source = source_of("", {"a", "nope<3>"});
  EXPECT_EQ(entry_problem(std::string("t.cu(2): error: expected a \";\"\n") + k_log, source), "");
  EXPECT_EQ(entry_problem("t.cu(2): catastrophic error: could not open source file \"x.h\"\n", source), "");
  EXPECT_EQ(entry_problem("__nv_name_map(9): error: x\n", source), "") << "no entry has that line";
  EXPECT_EQ(entry_problem("__nv_name_map(): error: x\n", source), "");
  EXPECT_EQ(entry_problem("", source), "");
}

TEST(EntryProblem, FindsKernelsAsTheyAreWritten) {
  EXPECT_EQ(kernels_in(source_of("extern \"C\" __global__ void a(int);\n__global__ void a(int) {}\n"
                                 "__global__ __launch_bounds__(128, 2) void\nb ( ) {}\n"
                                 "static __global__ void c(dim3 d = dim3(1)) {}\n#define K __global__\n",
                                 {})),
            (std::vector<std::string>{"a", "b", "c"}));
}

}  // namespace
}  // namespace kiln::jit
