#pragma once

#include <string>

#include "kiln/source.hpp"

namespace kiln::emulation {

/// The file that is compiled: it includes the source's main file and lists its entries for the library. Pure.
std::string wrapper_for(const Source& source, const std::string& main_file);

}  // namespace kiln::emulation
