#include <filesystem>
#include <string>

#include "kiln/error.hpp"
#include "nvrtc/jit/nvrtc_test.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::jit {
namespace {

namespace fs = std::filesystem;

/// What NVRTC really makes of the headers Kiln gives it.
class ClosedWorld : public NvrtcTest {
 protected:
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((dir_ / path).parent_path());
    test::write_file(dir_ / path, text);
  }
  Template from_file(const std::string& text, std::initializer_list<const char*> dirs = {}) {
    write("main/t.cu", "// kiln: entry k\n" + text + "\n__global__ void k() {}\n");
    TemplateOptions options;
    for (const char* dir : dirs) {
      options.include_dirs.push_back(dir_ / dir);
    }
    return Template::from_file(dir_ / "main/t.cu", std::move(options));
  }
  void compiles(const Template& tmpl) {
    try {
      EXPECT_EQ(compile(tmpl).log, "");
    } catch (const CompileError& error) {
      ADD_FAILURE() << error.log() << error.source();
    }
  }
  std::string log_of(const Template& tmpl) {
    try {
      compile(tmpl);
      return "compiled";
    } catch (const CompileError& error) {
      return error.log();
    }
  }
  test::TempDir dir_;
};

TEST_P(ClosedWorld, NestedDuplicateAndParentIncludes) {
  write("main/a/b.h", "#pragma once\n#include \"c.h\"\n#include \"../d.h\"\n#include \"./c.h\"\n");
  write("main/a/c.h", "#pragma once\nstruct InA {};\n");
  write("main/c.h", "#pragma once\nstruct InMain {};\n");
  write("main/d.h", "#pragma once\nstruct D {};\n");
  write("inc/c.h", "#pragma once\nstruct InInc {};\n");
  compiles(
      from_file("#include \"a/b.h\"\n#include \"c.h\"\n#include <c.h>\n#include \"a/../d.h\"\n"
                "typedef InA A; typedef InMain B; typedef InInc C; typedef D E;",
                {"inc"}));
}

TEST_P(ClosedWorld, IncludeNextAndHasInclude) {
  write("one/x.h", "#pragma once\nstruct One {};\n#include_next <x.h>\n");
  write("two/x.h", "#pragma once\nstruct Two {};\n");
  write("main/d/sibling.h", "\n");
  write("main/d/asks.h", "#if !__has_include(\"sibling.h\") || __has_include(\"gone.h\")\n#error wrong\n#endif\n");
  compiles(
      from_file("#include <x.h>\n#include \"d/asks.h\"\n#if !__has_include(<x.h>) || __has_include(<gone.h>)\n"
                "#error wrong\n#endif\ntypedef One A; typedef Two B;",
                {"one", "two"}));
}

TEST_P(ClosedWorld, MacroIncludes) {
  write("main/d/config.h", "#define IMPL \"one.h\"\n#include IMPL\n");
  write("main/d/one.h", "struct One {};\n");
  compiles(from_file("#include \"d/config.h\"\ntypedef One A;"));
}

TEST_P(ClosedWorld, TheDiskIsNeverRead) {
  // In the current folder, where NVRTC looks by default, and by an absolute path.
  test::TempDir elsewhere;
  test::write_file(elsewhere / "late.h", "struct Late {};\n");
  fs::path before = fs::current_path();
  fs::current_path(elsewhere.path());
  EXPECT_NE(log_of(from_file("#include \"late.h\"\n")).find("could not open source file \"late.h\""),
            std::string::npos);
  fs::current_path(before);
  std::string absolute = (dir_ / "absolute.h").string();
  Template tmpl = from_file("#include \"" + absolute + "\"\n");
  test::write_file(absolute, "struct Late {};\n");
  EXPECT_NE(log_of(tmpl).find("absolute.h"), std::string::npos) << "appeared after the template was made";
}

TEST_P(ClosedWorld, AMissingIncludeIsNamedOnlyWhereActive) {
  compiles(from_file("#if 0\n#include \"missing.h\"\n#endif\n"));
  std::string log = log_of(from_file("#include \"missing.h\"\n"));
  EXPECT_NE(log.find("t.cu(2)"), std::string::npos) << log;
  EXPECT_NE(log.find("missing.h"), std::string::npos) << log;
}

TEST_P(ClosedWorld, ErrorsInHeadersNameHeaderAndLine) {
  write("main/a/b.h", "#include \\\n  \"c.h\"\nbroken;\n");
  write("main/a/c.h", "\n");
  std::string log = log_of(from_file("#include \"a/b.h\"\n"));
  EXPECT_NE(log.find("a/b.h(3): error"), std::string::npos) << log;
}

TEST_P(ClosedWorld, CudasOwnHeadersCompile) {
  const char* root = "/usr/local/cuda/include";
  if (!fs::exists(fs::path(root) / "cuda_fp16.h")) {
    GTEST_SKIP() << "no CUDA headers at " << root;
  }
  if (!at_least(13, 0)) {
    GTEST_SKIP() << "the headers are of another CUDA than this NVRTC";
  }
  TemplateOptions options;
  options.include_dirs = {root};
  if (fs::exists(fs::path(root) / "cccl")) {
    options.include_dirs.push_back(fs::path(root) / "cccl");
  }
  for (const char* include : {"#include <cuda_fp16.h>\n__device__ __half h;",
                              "#include <cuda/std/array>\n__device__ cuda::std::array<int, 3> a;",
                              "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;",
                              "#include <cuda/std/type_traits>\n#include <cuda/pipeline>\n"}) {
    SCOPED_TRACE(include);
    Template tmpl = Template::from_text(
        "t.cu", "// kiln: entry k\n" + std::string(include) + "\n__global__ void k() {}\n", options);
    EXPECT_GT(tmpl.headers().size(), 5u);
    try {
      compile(tmpl);
    } catch (const CompileError& error) {
      ADD_FAILURE() << error.log();
    }
  }
}

TEST_P(ClosedWorld, NoSpellingOfAnIncludeReachesTheDisk) {
  write("abs.h", "#define FROM_DISK 1\n");
  const std::string path = (dir_ / "abs.h").string();
  const std::string folder = dir_.path().string();
  const std::string split = path.substr(0, 5) + "\\\n" + path.substr(5);
  for (const std::string& text : {
           "#define S(x) #x\n#define X(x) S(x)\n#include X(" + path + ")",
           "#define S(x) #x\n#define H S(" + path + ")\n#include H",
           "#define D " + folder + "\n#define H <D/abs.h>\n#include H",
           "#define H(x) <x>\n#include H(" + path + ")",
           "#define I(...) <__VA_ARGS__" + path + ">\n#include I()",
           "#define P(a, b) a##b\n#include P(<," + path + ">)",
           "#line 1 \"" + path + "\"\n#include __FILE__",
           "%:include \"" + path + "\"",
           "#inc\\\nlude \"" + path + "\"",
           "#include \"" + split + "\"",
           "#def\\\nine H \"" + path + "\"\n#include H",
       }) {
    SCOPED_TRACE(text);
    std::string said;
    try {
      // What Kiln finds itself it gives in memory, and that is in the key: the file comes after the template is made.
      fs::remove(path);
      Template tmpl = from_file(text + "\n__device__ int used = FROM_DISK;");
      write("abs.h", "#define FROM_DISK 1\n");
      said = log_of(tmpl);
    } catch (const TemplateError& error) {
      said = error.what();
    }
    EXPECT_NE(said, "compiled");
  }
}

TEST_P(ClosedWorld, NoSnippetOrNameReachesTheDisk) {
  write("abs.h", "#define FROM_DISK 1\n");
  const std::string include = "#include \"" + (dir_ / "abs.h").string() + "\"\n";
  Template tmpl = Template::from_text("t.cu",
                                      "// kiln: parameter c: code\n// kiln: entry k\n#include <kiln/code/c.h>\n"
                                      "__global__ void k() {}\n");
  EXPECT_THROW(compile(tmpl, {{"c", Code{include}}}), TemplateError);
  TemplateOptions options;
  options.entries = {"k\n" + include};
  EXPECT_THROW(Template::from_text("t.cu", "__global__ void k() {}\n", options), TemplateError);
}

KILN_NVRTC_SUITE(ClosedWorld);

}  // namespace
}  // namespace kiln::jit
