#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "emulation/workspace.hpp"

namespace kiln::emulation {

/// The C++ compiler of this machine: $KILN_HOST_CXX, else $CXX, else the first on PATH of g++, clang++-19, clang++,
/// c++. Throws Error{host_compiler} naming everything tried, or KILN_HOST_CXX when that is set to what cannot be run.
std::filesystem::path find_host_compiler();

/// By its name, or the name of the file that it is a link to.
bool is_clang(const std::filesystem::path& compiler);

/// Runs `compiler` with `arguments`, which make `library`, without a shell; its temporary files go to the workspace.
/// Throws Error{host_compiler} with the command and its output when it fails, or when there is no library after it.
void run_host_compiler(const std::filesystem::path& compiler, const std::vector<std::string>& arguments,
                       const Workspace& workspace, const std::filesystem::path& library);

}  // namespace kiln::emulation
