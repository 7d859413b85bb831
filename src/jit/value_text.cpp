#include "jit/value_text.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <variant>

#include "jit/literal.hpp"
#include "kiln/quote.hpp"

namespace kiln::jit {

std::string declaration_of(const Parameter& parameter) {
  std::string text(declared_name(parameter.type));
  if (parameter.is_list) {
    text += '[' + (parameter.length ? std::to_string(*parameter.length) : std::string()) + ']';
  }
  return text;
}

std::string describe(const Value& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, bool>) {
          return std::string("the bool ") + (held ? "true" : "false");
        } else if constexpr (std::is_integral_v<Held>) {
          return "the integer " + std::to_string(held);
        } else if constexpr (std::is_same_v<Held, double>) {
          return "the real " + text_of(held);
        } else if constexpr (std::is_same_v<Held, TypeName>) {
          return "the type " + quote(held.text);
        } else if constexpr (std::is_same_v<Held, Code>) {
          return "a piece of code";
        } else {
          return "a list of " + std::to_string(held.size());
        }
      },
      value.storage());
}

std::string text_of(double value) {
  std::array<char, 64> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

float nearest_float(double value) noexcept {
  if (!std::isnan(value)) {
    return static_cast<float>(value);
  }
  auto bits = std::bit_cast<std::uint64_t>(value);
  auto sign = static_cast<std::uint32_t>(bits >> 32) & 0x80000000u;
  auto payload = static_cast<std::uint32_t>((bits >> 29) & 0x7FFFFFu);
  // A payload in the lost bits only would leave an infinity.
  return std::bit_cast<float>(sign | 0x7F800000u | (payload == 0 ? 0x400000u : payload));
}

}  // namespace kiln::jit
