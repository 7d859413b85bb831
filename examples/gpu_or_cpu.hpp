// What the examples share: they run on the GPU where there is one, on the CPU otherwise, and say which.
#pragma once

#include <cstdio>
#include <optional>

#include "kiln/device.hpp"
#include "kiln/error.hpp"

namespace example {

/// Without a GPU the kernels are compiled for this one, and emulated.
inline const kiln::Target k_target_without_gpu = kiln::Target::cubin(90);

inline std::optional<kiln::Device> find_gpu() {
  try {
    kiln::Device gpu;
    std::printf("running on the GPU (%s)\n", gpu.target().text().c_str());
    return gpu;
  } catch (const kiln::Error& error) {
    if (error.code() != kiln::ErrorCode::driver_unavailable && error.code() != kiln::ErrorCode::no_device) {
      throw;
    }
    std::printf("no GPU here: compiled for %s, run by emulation on the CPU\n", k_target_without_gpu.text().c_str());
    return std::nullopt;
  }
}

/// Runs `body` and turns what it throws into an exit code: 3 when something is missing on this machine.
template <typename Body>
int run(Body body) {
  try {
    return body() ? 0 : 1;
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    bool missing = error.code() == kiln::ErrorCode::nvrtc_unavailable || error.code() == kiln::ErrorCode::host_compiler;
    return missing ? 3 : 1;
  }
}

}  // namespace example
