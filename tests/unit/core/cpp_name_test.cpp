#include "core/cpp_name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln::core {
namespace {

using ::testing::HasSubstr;

TEST(CppName, NamesPass) {
  for (const char* name :
       {"scale", "s", "s_length", "x2", "_low", "Linux", "cuda", "cudagraph", "value_", "nv", "int8"}) {
    EXPECT_EQ(problem_of_name(name), "") << name;
  }
}

TEST(CppName, WhatIsNoNameDoesNot) {
  for (const char* name : {"", "2nd", "a b", "a-b", "a\n", "\xC3\xA4"}) {
    EXPECT_THAT(problem_of_name(name), HasSubstr("is no name in C++")) << name;
  }
}

TEST(CppName, WordsDoNot) {
  for (const char* name : {"float", "int", "xor", "not_eq", "co_await", "requires", "asm", "char8_t", "constinit"}) {
    EXPECT_EQ(problem_of_name(name), "is a word of C++") << name;
  }
}

TEST(CppName, ReservedOnesDoNot) {
  for (const char* name : {"__half", "a__b", "_Float16", "__CUDA_ARCH__", "_X"}) {
    EXPECT_THAT(problem_of_name(name), HasSubstr("is reserved for compilers")) << name;
  }
}

TEST(CppName, MacrosDoNot) {
  for (const char* name : {"NULL", "linux", "unix", "typeof", "assert", "va_end", "CUDART_VERSION", "NV_IF_TARGET",
                           "cudaStreamLegacy", "KILN_HAS_CP_ASYNC"}) {
    EXPECT_EQ(problem_of_name(name), "may be a macro or a word of some compilers") << name;
  }
}

}  // namespace
}  // namespace kiln::core
