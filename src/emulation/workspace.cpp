#include "emulation/workspace.hpp"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "kiln/error.hpp"

namespace kiln::emulation {

namespace fs = std::filesystem;

Workspace::Workspace() {
  std::error_code error;
  fs::path base = fs::temp_directory_path(error);
  if (error) {
    base = "/tmp";
  }
  std::string pattern = (base / "kiln-emulation-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw Error(ErrorCode::host_compiler, "cannot make a folder like " + pattern + " for the emulation: " +
                                              std::strerror(errno) + "; set TMPDIR to a folder that can be written");
  }
  path_ = pattern;
}

Workspace::~Workspace() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void Workspace::write(const fs::path& name, std::string_view text) const {
  const fs::path file = (path_ / name).lexically_normal();
  const fs::path inside = file.lexically_relative(path_);
  if (name.is_absolute() || inside.empty() || *inside.begin() == "..") {
    throw Error(ErrorCode::host_compiler,
                "header \"" + name.string() + "\" cannot be emulated: its name leads out of the sources");
  }
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  std::ofstream out(file, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) {
    throw Error(ErrorCode::host_compiler, "cannot write " + file.string() + " for the emulation: " +
                                              std::strerror(errno) + "; set TMPDIR to a folder that can be written");
  }
}

std::string Workspace::read(const fs::path& name) const {
  std::ifstream in(path_ / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace kiln::emulation
