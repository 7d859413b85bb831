#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace kiln::emulation {

/// A word (identifier, keyword, number) or one character of punctuation. Comments and literals give no tokens.
struct Token {
  std::string_view text;
  std::size_t begin = 0;      ///< offset in the text
  std::size_t directive = 0;  ///< number, from 1, of the preprocessor directive it is in; 0: in none

  std::size_t end() const noexcept { return begin + text.size(); }
};

/// The words and punctuation of C++ text, as far as a compiler would see them. Pure; any text is accepted.
std::vector<Token> tokenize(std::string_view text);

}  // namespace kiln::emulation
