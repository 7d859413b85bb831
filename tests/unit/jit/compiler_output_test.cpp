#include "jit/compiler_output.hpp"

#include <gtest/gtest.h>

namespace kiln::jit {
namespace {

TEST(SplitLog, TakesTheAssemblersReportOut) {
  SplitLog split = split_log(
      "main.cu(1): warning #177-D: variable \"a\" was declared but never referenced\n"
      "ptxas info    : Overriding maximum register limit 256 for '_Z1kPf' with  24 of maxrregcount option\n"
      "ptxas info    : 0 bytes gmem, 24 bytes cmem[4]\n"
      "ptxas info    : Compiling entry function '_Z1kPf' for 'sm_80'\n"
      "ptxas info    : Function properties for _Z1kPf\n"
      "ptxas         .     416 bytes stack frame, 404 bytes spill stores, 516 bytes spill loads\n"
      "ptxas info    : Used 24 registers, used 1 barriers, 416 bytes cumulative stack size, 256 bytes smem\n"
      "ptxas info    : Compile time = 8.512 ms\n"
      "ptxas info    : Compiling entry function 'other' for 'sm_80'\n"
      "ptxas info    : Function properties for other\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas warning : For profile sm_80 adjusting per thread register count of 16 to lower bound of 24\n");
  EXPECT_EQ(split.text,
            "main.cu(1): warning #177-D: variable \"a\" was declared but never referenced\n"
            "ptxas warning : For profile sm_80 adjusting per thread register count of 16 to lower bound of 24\n");
  EXPECT_EQ(split.spills, (std::map<std::string, std::int64_t>{{"_Z1kPf", 920}, {"other", 0}}));
}

TEST(SplitLog, KeepsOtherRemarksOfTheAssembler) {
  const char* remark =
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n";
  EXPECT_EQ(split_log(remark).text, remark);
}

TEST(SplitLog, AnEmptyLogStaysEmpty) {
  EXPECT_EQ(split_log("").text, "");
  EXPECT_EQ(split_log("ptxas info    : 0 bytes gmem\n\n").text, "");
}

TEST(BuildOf, ReadsThePtxHeader) {
  EXPECT_EQ(build_of("//\n// Cuda compilation tools, release 13.0, V13.0.88\n// Based on NVVM 7.0.1\n"), 88);
  EXPECT_EQ(build_of("// nothing\n"), 0);
  EXPECT_EQ(build_of(""), 0);
}

TEST(Numbered, CountsLinesOfEachFileFromOne) {
  Source source;
  source.name = "t.cu";
  source.text = "a\n\nc";
  source.headers = {{"kiln/values.h", "v\n"}, {"kiln/code/x.h", "x\n"}, {"mine.h", "not shown\n"}};
  EXPECT_EQ(numbered(source),
            "---- kiln/values.h\n"
            "    1 | v\n"
            "---- kiln/code/x.h\n"
            "    1 | x\n"
            "---- t.cu\n"
            "    1 | a\n"
            "    2 | \n"
            "    3 | c\n");
}

}  // namespace
}  // namespace kiln::jit
