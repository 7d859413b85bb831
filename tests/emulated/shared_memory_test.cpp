#include "emulation/shared_memory.hpp"

#include <gtest/gtest.h>

namespace kiln::emulation {
namespace {

TEST(PrepareSharedMemory, TextWithoutSharedMemoryIsUnchanged) {
  EXPECT_EQ(prepare_shared_memory("extern int a[];\nstatic int b;"), "extern int a[];\nstatic int b;");
}

TEST(PrepareSharedMemory, StaticArraysKeepTheMacro) {
  EXPECT_EQ(prepare_shared_memory(
                "{ __shared__ float a[4]; static __shared__ T b[N]; __shared__ static int c; static int d; }"),
            "{ __shared__ float a[4];  __shared__ T b[N]; __shared__  int c; static int d; }");
}

TEST(PrepareSharedMemory, DynamicArraysBecomeReferences) {
  const std::string made = " = ::kiln_emulation::DynamicShared{}";
  EXPECT_EQ(prepare_shared_memory("extern __shared__ float tile[];"), "  float (&tile)[]" + made + ";");
  EXPECT_EQ(prepare_shared_memory("__shared__ extern volatile T t[][32];"), "  volatile T (&t)[][32]" + made + ";");
  EXPECT_EQ(prepare_shared_memory("{extern __shared__ __align__(16) unsigned char raw[];}"),
            "{  __align__(16) unsigned char (&raw)[]" + made + ";}");
  EXPECT_EQ(prepare_shared_memory("int x;\nextern __shared__\n uint4\n all[] ;"),
            "int x;\n \n uint4\n (&all)[]" + made + " ;");
  for (const std::string attribute : {"[[maybe_unused]]", "[[gnu::aligned(sizeof(int[4]))]]"}) {
    EXPECT_EQ(prepare_shared_memory(attribute + " extern __shared__ int a[];"),
              attribute + "   int (&a)[]" + made + ";");
    EXPECT_EQ(prepare_shared_memory("int x; extern " + attribute + " __shared__ int a[];"),
              "int x;  " + attribute + "  int (&a)[]" + made + ";");
  }
}

TEST(PrepareSharedMemory, CommentsLiteralsAndDirectivesAreNotDeclarations) {
  for (const char* text :
       {"// extern __shared__ float a[];\n", "/* static __shared__ */", "const char* s = \"extern __shared__ a[];\";",
        "auto s = R\"x(static __shared__ int a;)x\";", "int n = 1'000; // __shared__"}) {
    EXPECT_EQ(prepare_shared_memory(text), text);
  }
  EXPECT_EQ(prepare_shared_memory("#define TILE extern __shared__ float tile[]\nstatic int after;"),
            "#define TILE   float (&tile)[] = ::kiln_emulation::DynamicShared{}\nstatic int after;");
}

TEST(PrepareSharedMemory, AnyTextIsAccepted) {
  for (const char* text :
       {"__shared__", "extern __shared__", "__shared__ [", "[extern __shared__", "[[extern __shared__",
        "x[extern __shared__", "\"__shared__", "R\"__shared__", "'\\", "/*__shared__"}) {
    EXPECT_FALSE(prepare_shared_memory(text).empty());
  }
}

}  // namespace
}  // namespace kiln::emulation
