#include "kiln/quote.hpp"

#include <cstdint>

namespace kiln {

namespace {

/// One character of UTF-8 text: how many bytes it has (at least 1) and whether it can be shown.
struct Character {
  std::size_t bytes;
  bool is_shown;
  bool is_valid = true;
};

/// Control characters, and those that reorder the text around them or cannot be seen.
bool acts_on_display(std::uint32_t point) noexcept {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x61C || (point >= 0x200B && point <= 0x200F) ||
         (point >= 0x2028 && point <= 0x202E) || (point >= 0x2060 && point <= 0x206F) || point == 0xFEFF ||
         (point >= 0xFFF9 && point <= 0xFFFB);
}

bool continues(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

Character character_at(std::string_view text) noexcept {
  constexpr Character k_invalid{1, false, false};
  auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) {
    return {1, !acts_on_display(first)};
  }
  std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) {
    return k_invalid;
  }
  std::uint32_t point = first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!continues(text[i])) {
      return k_invalid;
    }
    point = (point << 6) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  constexpr std::uint32_t k_least[]{0, 0, 0x80, 0x800, 0x10000};
  bool is_surrogate = point >= 0xD800 && point <= 0xDFFF;
  if (point < k_least[bytes] || point > 0x10FFFF || is_surrogate) {
    return k_invalid;
  }
  return {bytes, !acts_on_display(point)};
}

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr std::string_view k_digits = "0123456789abcdef";
  for (char c : bytes) {
    auto byte = static_cast<unsigned char>(c);
    out += "\\x";
    out += k_digits[byte >> 4];
    out += k_digits[byte & 0xFU];
  }
}

void append(std::string& out, std::string_view text, std::string_view kept) {
  while (!text.empty()) {
    Character character = character_at(text);
    std::string_view bytes = text.substr(0, character.bytes);
    if (character.is_shown || kept.find(bytes.front()) != std::string_view::npos) {
      out += bytes;
    } else {
      append_escaped(out, bytes);
    }
    text.remove_prefix(character.bytes);
  }
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    Character character = character_at(text);
    if (!character.is_valid) {
      return false;
    }
    text.remove_prefix(character.bytes);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append(out, text, "\n\t");
  return out;
}

namespace {

/// `text` on one line between two marks.
std::string shown_between(std::string_view mark, std::string_view text, std::size_t most) {
  std::string out(mark);
  if (text.size() <= most) {
    append(out, text, {});
    return out.append(mark);
  }
  // No character is cut: the head gives up the bytes of one that does not fit, and so does the tail.
  std::size_t head = most * 2 / 3;
  for (int i = 0; i < 3 && head > 0 && continues(text[head]); ++i) {
    --head;
  }
  std::size_t tail = text.size() - (most - most * 2 / 3);
  for (int i = 0; i < 3 && tail < text.size() && continues(text[tail]); ++i) {
    ++tail;
  }
  append(out, text.substr(0, head), {});
  out += "…";
  append(out, text.substr(tail), {});
  return out.append(mark) + " (" + std::to_string(text.size()) + " bytes)";
}

}  // namespace

std::string quote(std::string_view text, std::size_t most) { return shown_between("'", text, most); }
std::string one_line(std::string_view text, std::size_t most) { return shown_between("", text, most); }

}  // namespace kiln
