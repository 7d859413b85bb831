#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kiln/kernel.hpp"

struct CUctx_st;

namespace kiln::test {

/// What the fake libcuda (fake_cuda.cpp) does and what was done to it. It stands in for the driver where none is: it
/// counts calls, fails those it is told to, and ends the process with a status of its own when it is called at a time
/// at which the real driver must not be.
struct FakeCuda {
  struct Device {
    int major;
    int minor;
    std::string name = "Fake GPU";
  };
  struct Launch {
    std::string kernel;
    Dim3 grid;
    Dim3 block;
    Dim3 cluster;
    unsigned shared_bytes;
    Stream stream;
    std::vector<std::vector<std::byte>> arguments;  ///< as the kernel's parameters would have received them
    bool cooperative = false;
  };

  static constexpr int k_called_after_exit = 99;
  static constexpr int k_called_after_fork = 98;

  // What it is.
  int version = 13000;
  std::vector<Device> devices{{9, 0}, {8, 0}};
  unsigned multiprocessors = 3;
  std::map<std::string, std::vector<std::size_t>> kernels;  ///< in every image: name to parameter sizes
  std::map<std::string, std::vector<std::byte>> variables;  ///< in every image
  std::map<std::string, int> failures;                      ///< call to the CUresult that it gives
  std::map<std::string, int> failures_left;                 ///< how often it fails; for ever when it is not here
  std::set<std::string> missing;                            ///< functions that it does not have
  std::string jit_log;                                      ///< what loading PTX says when it fails
  std::function<double(const Launch&)> launch_us;           ///< how long a launch takes; without it 1
  std::size_t memory_bytes = std::size_t{1} << 40;          ///< that can be allocated
  bool hidden_capture = false;                              ///< a non-blocking stream is being captured, in global mode

  // What was done.
  std::map<std::string, int> calls;
  std::vector<Launch> launches;
  std::vector<std::string> loaded;    ///< every image, in order: its text if it is no ELF file, else ""
  std::size_t stream_bytes = 0;       ///< allocated in a stream's order and not freed
  std::size_t most_stream_bytes = 0;  ///< at a time
  int images = 0;                     ///< loaded and not unloaded
  int events = 0;                     ///< made and not destroyed
  int streams = 0;                    ///< made and not destroyed
  bool capture_broken = false;        ///< a call was made that a capture under way does not survive

  // What else can be done to it. Set by the fake.
  CUctx_st* (*create_context)(int device) = nullptr;  ///< current in no thread
  void (*destroy_context)(CUctx_st*) = nullptr;
  void (*set_current)(CUctx_st*) = nullptr;  ///< in the calling thread; null for none
  CUctx_st* (*current)() = nullptr;
  void (*set_capturing)(CUctx_st*, bool) = nullptr;  ///< a blocking stream of the context begins or ends to be captured
  int (*capture_mode)() = nullptr;                   ///< the calling thread's: 0 global, 1 thread-local, 2 relaxed
};

}  // namespace kiln::test
