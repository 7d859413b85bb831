#include "kiln/artifact.hpp"

namespace kiln {

std::string Key::text() const {
  static constexpr char k_digits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (int i = 0; i < 16; ++i) {
    text[static_cast<std::size_t>(15 - i)] = k_digits[(high >> (4 * i)) & 0xF];
    text[static_cast<std::size_t>(31 - i)] = k_digits[(low >> (4 * i)) & 0xF];
  }
  return text;
}

std::string Compiler::text() const {
  return "nvrtc " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(build);
}

}  // namespace kiln
