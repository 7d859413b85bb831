#include "support/fake_cuda_entry.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace kiln::test {

namespace {

using namespace kiln::jit;

constexpr int k_capture_unsupported = 900;

[[noreturn]] void die(const char* call, const char* when, int status) {
  std::fprintf(stderr, "fake libcuda: %s was called %s\n", call, when);
  _exit(status);
}

const Export* find(const char* name) {
  for (std::span<const Export> exports : {code_exports(), stream_exports()}) {
    for (const Export& entry : exports) {
      if (std::strcmp(entry.name, name) == 0) {
        return &entry;
      }
    }
  }
  return nullptr;
}

}  // namespace

int enter(const char* call) {
  if (g_driver.shut_down) {
    die(call, "after the driver was shut down", FakeCuda::k_called_after_exit);
  }
  if (g_driver.initialized_by != 0 && g_driver.initialized_by != getpid()) {
    die(call, "in the child of a fork", FakeCuda::k_called_after_fork);
  }
  ++g_driver.fake.calls[call];
  auto failure = g_driver.fake.failures.find(call);
  if (failure == g_driver.fake.failures.end()) {
    return k_cuda_success;
  }
  int result = failure->second;
  if (auto left = g_driver.fake.failures_left.find(call);
      left != g_driver.fake.failures_left.end() && --left->second == 0) {
    g_driver.fake.failures_left.erase(left);
    g_driver.fake.failures.erase(failure);
  }
  return result;
}

int enter_unsafe(const char* call) {
  int result = enter(call);
  bool capturing = g_driver.fake.hidden_capture;
  for (const auto& context : g_driver.contexts) {
    capturing = capturing || context->capturing;
  }
  if (capturing && t_thread.capture_mode != k_capture_mode_relaxed) {
    g_driver.fake.capture_broken = true;
    return k_capture_unsupported;
  }
  return result;
}

void* find_entry_point(const char* name, int version) {
  const Export* found = find(name);
  bool known = found != nullptr && found->since <= g_driver.fake.version && !g_driver.fake.missing.contains(name);
  // Asking for an older binary interface than Kiln's declarations describe would give another function.
  return known && version >= found->since ? found->address : nullptr;
}

}  // namespace kiln::test
