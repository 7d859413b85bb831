#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <locale.h>
#include <stdlib.h>

#include "jit/literal.hpp"
#include "jit/value_text.hpp"
#include "kiln/error.hpp"
#include "kiln/quote.hpp"
#include "support/unique_handle.hpp"

namespace kiln::jit {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view k_blanks = " \t\r\n";
  std::size_t first = text.find_first_not_of(k_blanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(k_blanks) - first + 1);
}

[[noreturn]] void refuse(const Parameter& parameter, std::string_view text) {
  throw Error(ErrorCode::invalid_argument, quote(text) + " is not " + accepted_words(parameter.type));
}

/// An integer in decimal or 0x hexadecimal, with or without a sign: negative ones first, the others second.
struct Integer {
  bool is_negative = false;
  std::uint64_t magnitude = 0;
};

std::optional<Integer> parse_integer(std::string_view text) {
  Integer integer;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    integer.is_negative = text.front() == '-';
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer.magnitude, base);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  if (integer.is_negative && integer.magnitude > std::uint64_t{1} << 63) {
    return std::nullopt;
  }
  return integer;
}

std::int64_t negated(std::uint64_t magnitude) { return static_cast<std::int64_t>(0 - magnitude); }

struct LocaleTraits {
  using Type = locale_t;
  static Type invalid() noexcept { return nullptr; }
  static void close(Type handle) noexcept { freelocale(handle); }
};

/// Whether all digits of a number's text, before its exponent, are zeros: one that is too small is read as 0 as well.
bool says_zero(std::string_view text) {
  const bool is_hex = text.find_first_of("xX") != std::string_view::npos;
  return text.substr(0, text.find_first_of(is_hex ? "pP" : "eE")).find_first_of("123456789abcdefABCDEF") ==
         std::string_view::npos;
}

/// Decimal, hex float, inf or nan. Not std::from_chars, which libc++ 19 lacks for reals, and not strtod, which
/// follows the process's locale.
std::optional<double> parse_real(std::string_view text) {
  support::UniqueHandle<LocaleTraits> locale(newlocale(LC_ALL_MASK, "C", nullptr));
  std::string terminated(text);
  bool starts_well = !text.empty() && std::isspace(static_cast<unsigned char>(text.front())) == 0;
  if (!starts_well || !locale) {
    return std::nullopt;
  }
  char* end = nullptr;
  double value = strtod_l(terminated.c_str(), &end, locale.get());
  if (end != terminated.c_str() + terminated.size()) {
    return std::nullopt;
  }
  bool overflowed = std::isinf(value) && text.find_first_of("iI") == std::string_view::npos;
  return overflowed || (value == 0.0 && !says_zero(text)) ? std::nullopt : std::optional(value);
}

Value parse_scalar(const Parameter& parameter, std::string_view text) {
  switch (parameter.type) {
    case ParameterType::boolean:
      if (text == "true" || text == "1") {
        return true;
      }
      if (text == "false" || text == "0") {
        return false;
      }
      refuse(parameter, text);
    case ParameterType::character:
      if (text.size() == 3 && text.front() == '\'' && text.back() == '\'') {
        return static_cast<std::int64_t>(static_cast<signed char>(text[1]));
      }
      break;
    case ParameterType::f32:
    case ParameterType::f64:
      if (std::optional<double> real = parse_real(text)) {
        return *real;
      }
      refuse(parameter, text);
    default:
      break;
  }
  std::optional<Integer> integer = parse_integer(text);
  if (!integer) {
    refuse(parameter, text);
  }
  if (integer->is_negative) {
    return negated(integer->magnitude);
  }
  return integer->magnitude;
}

/// Splits `{1, 2, 3}` or `1, 2, 3`; the words are trimmed.
std::vector<std::string_view> list_words(std::string_view text) {
  if (text.size() >= 2 && text.front() == '{' && text.back() == '}') {
    text = trimmed(text.substr(1, text.size() - 2));
  }
  std::vector<std::string_view> words;
  while (!text.empty()) {
    std::size_t comma = text.find(',');
    words.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) {
      return words;
    }
    text.remove_prefix(comma + 1);
    if (text.empty()) {
      words.emplace_back();  // "1, 2," has an empty last word, which is refused as no number
    }
  }
  return words;
}

template <typename T>
Value list_of(const std::vector<Value>& values) {
  std::vector<T> list;
  list.reserve(values.size());
  for (const Value& value : values) {
    list.push_back(std::visit(
        [](const auto& held) -> T {
          if constexpr (std::is_arithmetic_v<std::decay_t<decltype(held)>>) {
            return static_cast<T>(held);
          } else {
            return T{};  // parse_scalar gives numbers only
          }
        },
        value.storage()));
  }
  return Value(list);
}

}  // namespace

Value parse_value(const Parameter& parameter, std::string_view text) {
  if (parameter.type == ParameterType::code) {
    return Code{std::string(text)};
  }
  text = trimmed(text);
  if (parameter.type == ParameterType::type) {
    return TypeName{std::string(text)};
  }
  if (!parameter.is_list) {
    return parse_scalar(parameter, text);
  }
  std::vector<Value> values;
  for (std::string_view word : list_words(text)) {
    values.push_back(parse_scalar(parameter, word));
  }
  switch (parameter.type) {
    case ParameterType::f32:
    case ParameterType::f64:
      return list_of<double>(values);
    case ParameterType::u64:
      return list_of<std::uint64_t>(values);
    default:
      return list_of<std::int64_t>(values);
  }
}

Value parse_value(const Parameter& parameter, std::string_view text, std::string_view template_name) try {
  return parse_value(parameter, text);
} catch (const Error& error) {
  throw TemplateError(
      std::string(template_name), parameter.name,
      "parameter '" + parameter.name + "' is declared " + declaration_of(parameter) + ": " + error.what());
}

}  // namespace kiln::jit
