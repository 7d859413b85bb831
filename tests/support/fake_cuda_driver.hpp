#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/fake_cuda.hpp"

// What the driver's handles point to in the fake, and its state. Between the files of the fake only.

struct CUctx_st {
  int device;
  unsigned long long id;
  bool alive;
  bool capturing;
};
struct CUfunc_st {
  std::string name;
  CUctx_st* context;
  int shared_limit = 48 * 1024;
};
struct CUevent_st {
  double at_us = -1;  ///< on the device's clock; before it is recorded, never
};
struct CUkern_st {
  std::string name;
};
struct CUlib_st {
  bool live = true;
};
struct CUmod_st {
  CUctx_st* context;
  bool live = true;
};

namespace kiln::test {

/// A copy to the device that was asked for and has not been waited for.
struct FakeCopy {
  void* to;
  std::vector<std::byte> bytes;
};

struct FakeDriver {
  FakeCuda fake;
  std::vector<std::unique_ptr<CUctx_st>> contexts;
  std::vector<std::unique_ptr<CUfunc_st>> functions;
  std::vector<std::unique_ptr<CUkern_st>> kernels;
  std::vector<std::unique_ptr<CUlib_st>> libraries;
  std::vector<std::unique_ptr<CUmod_st>> modules;
  std::vector<FakeCopy> copies;
  unsigned long long next_context_id = 1;
  double clock_us = 0;  ///< of the device
  bool shut_down = false;
  pid_t initialized_by = 0;
};

/// What the driver keeps for each thread. Trivially destructible: destructors of statics, which run after those of
/// thread-locals, may still call the driver.
struct FakeThread {
  std::array<CUctx_st*, 16> contexts{};  ///< a stack
  std::size_t depth = 0;
  int capture_mode = 0;

  CUctx_st* current() const { return depth == 0 ? nullptr : contexts[depth - 1]; }
  void push(CUctx_st* context) { contexts.at(depth++) = context; }
};

extern FakeDriver g_driver;
extern thread_local FakeThread t_thread;

/// Null when there is none of that name and version in the driver that is played.
void* find_entry_point(const char* name, int version);

}  // namespace kiln::test
