// Which kernels are remembered for which contexts, with a driver of the tests' own.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <functional>

#include "kiln/permuter.hpp"
#include "service_fixture.hpp"
#include "support/fake_cuda.hpp"

namespace kiln::test {
namespace {

class ContextTest : public ServiceTest {
 protected:
  /// Runs `body` in a process whose driver is the fake in `library`: as libcuda.so.1, the loader finds it opened
  /// already. It gives what went wrong, 0 for nothing.
  int in_process_with(const char* library, const std::function<int(FakeCuda&)>& body) {
    ChildProcess child([&] {
      void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
      FakeCuda& fake = *reinterpret_cast<FakeCuda* (*)()>(dlsym(handle, "kiln_fake_cuda"))();
      fake.kernels["sample"] = {8};
      fake.kernels["kiln_permute"] = {8, 8, 8};
      fake.set_current(fake.create_context(0));
      return body(fake);
    });
    return child.wait();
  }
  Kernel get(const Service& service) { return service.get(sample_, {{"n", 1}}, Target::parse("sm_90")); }
  Service service() { return Service(options()); }
};

TEST_F(ContextTest, AKernelIsRememberedForAContextThatHasAnId) {
  EXPECT_EQ(in_process_with(KILN_FAKE_CUDA,
                            [&](FakeCuda& fake) {
                              Service asked = service();
                              Prepared prepared = asked.prepare(sample_, {{"n", 1}}, Target::parse("sm_90"));
                              get(asked);
                              get(asked);
                              prepared.get();
                              prepared.get();
                              if (asked.context_id() == 0 || fake.loaded.size() != 1) {
                                return 1;
                              }
                              fake.set_current(fake.create_context(0));
                              get(asked);
                              return fake.loaded.size() == 2 ? 0 : 2;
                            }),
            0);
}

// The context of the second call may be another than that of the first, at the same address: nothing tells.
TEST_F(ContextTest, NothingIsRememberedForAContextWithoutOne) {
  EXPECT_EQ(in_process_with(KILN_FAKE_CUDA_11,
                            [&](FakeCuda& fake) {
                              Service asked = service();
                              Prepared prepared = asked.prepare(sample_, {{"n", 1}}, Target::parse("sm_90"));
                              get(asked);
                              get(asked);
                              if (asked.context_id() != 0 || fake.loaded.size() != 2) {
                                return 1;
                              }
                              prepared.get();
                              prepared.get();
                              if (fake.loaded.size() != 4) {
                                return 2;
                              }
                              return fake.images == 0 ? 0 : 3;  // nobody holds them
                            }),
            0);
  EXPECT_EQ(nvrtc_.compiles(), 1U) << "the artifact is remembered all the same";
}

TEST_F(ContextTest, PermutationsAreNotRememberedForIt) {
  EXPECT_EQ(in_process_with(KILN_FAKE_CUDA_11,
                            [&](FakeCuda& fake) {
                              Permuter permuter(service());
                              const Permutation map(std::vector<std::int64_t>{2, 0, 1});
                              const PermuteRequest request = plan_permute(map, {}, Target::parse("sm_90"));
                              for (const std::string& entry : request.tmpl.entries()) {
                                fake.kernels[entry] = {8, 8, 8};
                              }
                              for (int i = 0; i < 3; ++i) {
                                permuter.get(map, {}, Target::parse("sm_90"));
                              }
                              return fake.loaded.size() == 3 ? 0 : 1;
                            }),
            0);
}

}  // namespace
}  // namespace kiln::test
