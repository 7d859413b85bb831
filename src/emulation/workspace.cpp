#include "emulation/workspace.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "kiln/error.hpp"
#include "kiln/file_trouble.hpp"
#include "kiln/quote.hpp"

namespace kiln::emulation {

namespace fs = std::filesystem;

namespace {

fs::path temporary_folder() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  return error ? fs::path("/tmp") : folder;
}

}  // namespace

Workspace::Workspace() : folder_(temporary_folder()) {}

void Workspace::write(const fs::path& name, std::string_view text) const {
  const fs::path file = (path() / name).lexically_normal();
  const fs::path inside = file.lexically_relative(path());
  if (name.is_absolute() || inside.empty() || *inside.begin() == "..") {
    throw Error(ErrorCode::host_compiler,
                "header " + quote(name.native()) + " cannot be emulated: its name leads out of the sources");
  }
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  std::ofstream out(file, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) {
    throw Error(ErrorCode::host_compiler, "cannot write " + quote_path(file) + " for the emulation: " +
                                              file_trouble(errno) + "; TMPDIR names another place");
  }
}

std::string Workspace::read(const fs::path& name) const {
  std::ifstream in(path() / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace kiln::emulation
