#include "jit/toolchain.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::jit {
namespace {

namespace fs = std::filesystem;

class Toolchain : public testing::Test {
 protected:
  fs::path add(const std::string& path) {
    fs::path file = dir_ / path;
    fs::create_directories(file.parent_path());
    test::write_file(file, "library");
    return file;
  }
  fs::path found(const NvrtcPlaces& places) {
    NvrtcSearch search = find_nvrtc_in(places);
    return search.found ? search.found->path : fs::path();
  }
  test::TempDir dir_;
};

TEST_F(Toolchain, AnExplicitFileIsTheOnlyPlace) {
  fs::path file = add("x/libnvrtc.so.12");
  NvrtcSearch search = find_nvrtc(file);
  ASSERT_TRUE(search.found);
  EXPECT_EQ(search.found->path, file);
  EXPECT_EQ(search.found->size, 7u);
  EXPECT_NE(search.found->inode, 0u);
  EXPECT_GT(search.found->mtime_ns, 1'600'000'000'000'000'000);
  NvrtcSearch missing = find_nvrtc(dir_ / "gone.so");
  EXPECT_FALSE(missing.found);
  EXPECT_EQ(missing.looked_in, std::vector<std::string>{(dir_ / "gone.so").string()});
  EXPECT_FALSE(find_nvrtc(dir_.path()).found) << "a folder is no library";
}

TEST_F(Toolchain, TheNewestOfAFolderIsTaken) {
  add("lib/libnvrtc.so.9");
  add("lib/libnvrtc.so.11.2");
  fs::path newest = add("lib/libnvrtc.so.12");
  add("lib/libnvrtc-builtins.so.13.0");
  add("lib/libnvrtc.alt.so.13");
  add("lib/libnvrtc.so.bak");
  add("lib/libnvrtc.so.");
  EXPECT_EQ(found({.folders = {dir_ / "lib"}}), newest);
}

TEST_F(Toolchain, ToolkitsComeFirstThenWheelsThenTheLoadersPath) {
  fs::path loader = add("loader/libnvrtc.so.12");
  NvrtcPlaces places{.toolkits = {dir_ / "cuda"}, .environments = {dir_ / "venv"}, .folders = {dir_ / "loader"}};
  EXPECT_EQ(found(places), loader);
  places.configured = {dir_ / "configured"};
  fs::path configured = add("configured/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  EXPECT_EQ(found(places), configured);
  fs::path old_wheel = add("venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2");
  EXPECT_EQ(found(places), old_wheel);
  fs::path new_wheel = add("venv/lib/python3.11/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  EXPECT_EQ(found(places), new_wheel);
  fs::path target = add("cuda/targets/x86_64-linux/lib/libnvrtc.so.13");
  EXPECT_EQ(found(places), target);
  fs::path toolkit = add("cuda/lib64/libnvrtc.so");
  EXPECT_EQ(found(places), toolkit);
}

TEST_F(Toolchain, CondaKeepsItBesideItsOtherLibraries) {
  fs::path file = add("conda/lib/libnvrtc.so.12");
  EXPECT_EQ(found({.environments = {dir_ / "conda"}}), file);
}

TEST_F(Toolchain, AMissNamesEveryPlace) {
  NvrtcSearch search = find_nvrtc_in(
      {.toolkits = {"/no/cuda"}, .environments = {"/no/venv"}, .configured = {"/no/extra"}, .folders = {"/no/lib"}});
  EXPECT_FALSE(search.found);
  EXPECT_EQ(search.looked_in,
            (std::vector<std::string>{"/no/cuda/lib64/libnvrtc.so*", "/no/cuda/targets/x86_64-linux/lib/libnvrtc.so*",
                                      "/no/venv/lib/python3*/site-packages/nvidia", "/no/venv/lib/libnvrtc.so*",
                                      "/no/extra/libnvrtc.so*", "/no/extra/nvidia/cu13/lib/libnvrtc.so*",
                                      "/no/extra/nvidia/cuda_nvrtc/lib/libnvrtc.so*", "/no/lib/libnvrtc.so*"}));
}

/// Sets an environment variable for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) {
      old_ = old;
    }
    setenv(name, value, 1);
  }
  ~Variable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(NvrtcPlaces, ComeFromTheEnvironment) {
  Variable home("CUDA_HOME", "/a");
  Variable path("CUDA_PATH", "/b");
  Variable venv("VIRTUAL_ENV", "/c");
  Variable conda("CONDA_PREFIX", "/d");
  Variable loader("LD_LIBRARY_PATH", "/e::/f:");
  NvrtcPlaces places = nvrtc_places();
  EXPECT_EQ(places.toolkits, (std::vector<fs::path>{"/a", "/b", "/usr/local/cuda"}));
  EXPECT_EQ(places.environments, (std::vector<fs::path>{"/c", "/d"}));
  EXPECT_EQ(places.folders, (std::vector<fs::path>{"/e", "/f", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"}));
}

}  // namespace
}  // namespace kiln::jit
