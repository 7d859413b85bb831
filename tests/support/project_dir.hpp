#pragma once

#include <filesystem>
#include <stdexcept>

namespace kiln::test {

/// The folder that holds `examples/data`: the first one that does, upwards from this program. So a program finds its
/// data in the source tree it was built in and in a bundle that was copied elsewhere, with no path built into it.
inline std::filesystem::path project_dir() {
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  for (std::filesystem::path dir = program.parent_path(); dir != dir.root_path(); dir = dir.parent_path()) {
    if (std::filesystem::is_directory(dir / "examples" / "data")) {
      return dir;
    }
  }
  throw std::runtime_error("no folder above " + program.string() + " has examples/data");
}

}  // namespace kiln::test
