#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "jit/driver.hpp"
#include "kiln/artifact.hpp"
#include "support/fake_cuda.hpp"

namespace kiln::test {

inline FakeCuda& load_fake_cuda(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw std::runtime_error(dlerror());
  }
  return *reinterpret_cast<FakeCuda* (*)()>(dlsym(library, "kiln_fake_cuda"))();
}

inline const std::string k_fake_cuda = KILN_FAKE_CUDA;        // of CUDA 13.0
inline const std::string k_fake_cuda_11 = KILN_FAKE_CUDA_11;  // of CUDA 11.8

/// A whole ELF file with nothing in it: as much of a cubin as Kiln and the fake look at.
inline std::vector<std::byte> empty_elf() {
  std::vector<std::byte> image(64);
  const unsigned char ident[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
  std::memcpy(image.data(), ident, sizeof(ident));
  return image;
}

inline std::shared_ptr<Artifact> make_artifact(const std::string& target,
                                               std::vector<std::string> symbols = {"scale"}) {
  auto artifact = std::make_shared<Artifact>();
  artifact->template_name = "test.cu";
  artifact->target = Target::parse(target);
  artifact->kind = artifact->target.kind() == Target::Kind::ptx ? ImageKind::ptx : ImageKind::cubin;
  artifact->image = empty_elf();
  for (const std::string& symbol : symbols) {
    artifact->entries.push_back({.expression = symbol + "<float>", .lowered = symbol});
  }
  return artifact;
}

/// Tests against a fake driver as new, with a context on its device 0 (compute capability 9.0) current. The parameter
/// is the library: the driver of today loads libraries, that of CUDA 11.8 modules.
class FakeDriverTest : public ::testing::TestWithParam<std::string> {
 protected:
  explicit FakeDriverTest(const std::string& library = k_fake_cuda) : fake(load_fake_cuda(library)), library_(library) {
    context = fake.create_context(0);
    fake.set_current(context);
    fake.kernels["scale"] = {8, 4};
    fake.kernels["shift"] = {};
  }
  std::shared_ptr<const jit::Driver> open() const { return jit::Driver::open_files({library_}); }

  FakeCuda& fake;
  CUctx_st* context = nullptr;

 private:
  std::string library_;
};

/// Runs each test with both.
class AnyFakeDriverTest : public FakeDriverTest {
 protected:
  AnyFakeDriverTest() : FakeDriverTest(GetParam()) {}
};

inline auto both_fakes() { return ::testing::Values(k_fake_cuda, k_fake_cuda_11); }
inline std::string fake_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param == k_fake_cuda ? "Cuda13" : "Cuda11";
}

}  // namespace kiln::test
