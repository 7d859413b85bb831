#pragma once

#include <string>
#include <string_view>

namespace kiln::core {

/// What keeps `name` from being one that CUDA C++ source declares, as the end of a sentence that begins with the name:
/// that it is no name, a word of C++, reserved for compilers, or what a compiler or CUDA's headers may have as a macro.
/// Empty where nothing does. NVRTC and the host compilers of emulation count alike.
std::string problem_of_name(std::string_view name);

}  // namespace kiln::core
