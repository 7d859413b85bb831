#pragma once

#include <string_view>

namespace kiln::emulation {

/// The header that gives CUDA's names to a host compiler: the files of `device/`, embedded when Kiln is built.
extern const std::string_view k_cuda_emulation;

}  // namespace kiln::emulation
