#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace kiln::test {

inline void write_file(const std::filesystem::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

inline std::string read_file(const std::filesystem::path& path) {
  const std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;  // not char by char, which takes ten times as long where tests are not optimised
  text << stream.rdbuf();
  return text.str();
}

}  // namespace kiln::test
