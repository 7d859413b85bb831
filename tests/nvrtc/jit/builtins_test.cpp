// NVRTC's builtins are found beside it where nothing else leads the loader to their folder, as with a wheel.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>

#include "nvrtc/jit/nvrtc_test.hpp"
#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::jit {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_inner = "KILN_TEST_BUILTINS_OF";

/// Runs this program anew, with the loader's cache left out and no LD_LIBRARY_PATH. Gives its exit status, and what it
/// said.
int run_anew(const std::string& option, const fs::path& library, const fs::path& said) {
  std::vector<std::string> words{"/lib64/ld-linux-x86-64.so.2", "--inhibit-cache",
                                 fs::read_symlink("/proc/self/exe").string(), option};
  std::vector<std::string> variables{std::string(k_inner) + "=" + library.string(),
                                     "KILN_TEST_NVRTC=" + library.string(), "PATH=/usr/bin:/bin"};
  auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& text : texts) {
      list.push_back(text.data());
    }
    list.push_back(nullptr);
    return list;
  };
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t child = 0;
  int error =
      posix_spawn(&child, words[0].c_str(), &files, nullptr, pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&files);
  int status = -1;
  if (error == 0) {
    waitpid(child, &status, 0);
  }
  return error == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// What the other process does.
void compile_with(const char* library) {
  Source source;
  source.name = "t.cu";
  source.text = "__global__ void k(float* x) { x[threadIdx.x] = sinf(x[0]); }\n";
  source.entries = {"k"};
  auto nvrtc = Nvrtc::open(find_nvrtc(library));
  EXPECT_EQ(nvrtc->path(), library);
  EXPECT_FALSE(nvrtc->compile(source, Target::cubin(80), compile_arguments(source, Target::cubin(80))).image.empty());
}

class Builtins : public testing::TestWithParam<std::string> {};

TEST_P(Builtins, AreFoundBesideALibraryThatTheLoaderDoesNotKnow) {
  if (const char* given = std::getenv(k_inner)) {
    compile_with(given);
    return;
  }
  test::TempDir dir;
  fs::path original = fs::canonical(GetParam());
  fs::path library = dir / original.filename().string();
  fs::copy_file(original, library);
  for (const auto& file : fs::directory_iterator(original.parent_path())) {
    if (file.path().filename().string().starts_with("libnvrtc-builtins.so.") && !file.is_symlink()) {
      fs::copy_file(file.path(), dir / file.path().filename().string());
    }
  }
  if (run_anew("--gtest_list_tests", library, dir / "said") != 0) {
    GTEST_SKIP() << "this program's own libraries are not where the loader looks: " << test::read_file(dir / "said");
  }
  EXPECT_EQ(run_anew("--gtest_filter=*/Builtins.*", library, dir / "said"), 0) << test::read_file(dir / "said");
}

KILN_NVRTC_SUITE(Builtins);

}  // namespace
}  // namespace kiln::jit
