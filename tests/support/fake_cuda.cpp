// A libcuda.so.1 without a GPU: the entry points that Kiln uses, backed by the FakeCuda of fake_cuda.hpp.
// Built twice: as a driver of today, and with KILN_FAKE_CUDA_11 as one of CUDA 11.8.
#include "support/fake_cuda.hpp"

#include <cstdint>

#include "jit/driver_api.hpp"
#include "support/fake_cuda_driver.hpp"

using namespace kiln::jit;
using namespace kiln::test;

namespace kiln::test {

FakeDriver g_driver;
thread_local FakeThread t_thread;

}  // namespace kiln::test

namespace {

void destroy_context(CUctx_st* context) {
  context->alive = false;
  context->capturing = false;
  for (const auto& module : g_driver.modules) {
    if (module->context == context && module->live) {
      module->live = false;
      --g_driver.fake.images;
    }
  }
}

void set_current(CUctx_st* context) {
  g_driver.copies.clear();
  t_thread.depth = 0;
  if (context != nullptr) {
    t_thread.push(context);
  }
}

CUctx_st* create_context(int device) {
  g_driver.contexts.push_back(std::make_unique<CUctx_st>(CUctx_st{device, g_driver.next_context_id++, true, false}));
  return g_driver.contexts.back().get();
}

}  // namespace

extern "C" {

// Nothing counts here: they are asked before the driver is chosen.
[[gnu::visibility("default")]] int cuDriverGetVersion(int* version) {
  *version = g_driver.fake.version;
  return k_cuda_success;
}

[[gnu::visibility("default")]] int cuGetProcAddress(const char* name, void** address, int version, std::uint64_t) {
  *address = find_entry_point(name, version);
  return *address != nullptr ? k_cuda_success : k_cuda_not_found;
}

#ifndef KILN_FAKE_CUDA_11
[[gnu::visibility("default")]] int cuGetProcAddress_v2(const char* name, void** address, int version, std::uint64_t,
                                                       int* status) {
  *address = find_entry_point(name, version);
  *status = *address != nullptr ? 0 : 1;
  return k_cuda_success;
}
#endif

[[gnu::visibility("default")]] FakeCuda* kiln_fake_cuda() {
  g_driver.fake = FakeCuda();
#ifdef KILN_FAKE_CUDA_11
  g_driver.fake.version = 11080;
#endif
  g_driver.fake.create_context = create_context;
  g_driver.fake.destroy_context = destroy_context;
  g_driver.fake.set_current = set_current;
  g_driver.fake.current = [] { return t_thread.current(); };
  g_driver.fake.set_capturing = [](CUctx_st* context, bool capturing) { context->capturing = capturing; };
  g_driver.fake.capture_mode = [] { return t_thread.capture_mode; };
  for (const auto& context : g_driver.contexts) {
    context->capturing = false;
  }
  t_thread.depth = 0;
  t_thread.capture_mode = 0;
  return &g_driver.fake;
}

}  // extern "C"
