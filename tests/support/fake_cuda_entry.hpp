#pragma once

#include <span>

#include "jit/driver_api.hpp"
#include "support/fake_cuda_driver.hpp"

// How calls enter the fake driver, and how they are found. Between the files of the fake only.
namespace kiln::test {

/// Every entry point begins with it: a result other than success is to be given at once.
int enter(const char* call);
/// For calls that a capture in global mode forbids unless the thread's mode is relaxed.
int enter_unsafe(const char* call);

#define ENTER(call) \
  if (int result = enter(call); result != k_cuda_success) return result
#define ENTER_UNSAFE(call) \
  if (int result = enter_unsafe(call); result != k_cuda_success) return result

struct Export {
  const char* name;
  int since;  ///< CUDA version whose binary interface this is, as in cudaTypedefs.h
  void* address;
};

template <typename Function>
Export row(const char* name, int since, Function function) {
  return {name, since, reinterpret_cast<void*>(function)};
}

/// Contexts, code and its launches.
std::span<const Export> code_exports();
/// Streams, events and memory.
std::span<const Export> stream_exports();

}  // namespace kiln::test
