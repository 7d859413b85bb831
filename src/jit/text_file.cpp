#include "jit/text_file.hpp"

#include <fstream>
#include <iterator>

namespace kiln::jit {

std::optional<std::string> read_text_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return std::nullopt;  // can be opened all the same
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return std::nullopt;
  }
  std::string text;
  std::uintmax_t size = std::filesystem::file_size(path, error);
  if (!error) {
    text.resize(size);
    file.read(text.data(), static_cast<std::streamsize>(size));
    text.resize(static_cast<std::size_t>(file.gcount()));
  }
  // Whatever has no size (a pipe) or grew since.
  file.clear();
  text.append(std::istreambuf_iterator<char>(file), {});
  return file.bad() ? std::nullopt : std::optional(std::move(text));
}

}  // namespace kiln::jit
