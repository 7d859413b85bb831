#include "jit/literal.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <variant>

#include "jit/computed_include.hpp"
#include "jit/value_text.hpp"
#include "kiln/error.hpp"
#include "kiln/quote.hpp"

namespace kiln::jit {

namespace {

struct TypeFacts {
  std::string_view declared;
  std::string_view cpp;
  std::int64_t lowest;    // of the integers
  std::uint64_t highest;  // of the integers; 0 where the type is none
  std::string_view suffix;
};

// In the order of ParameterType.
constexpr std::array<TypeFacts, 14> k_types{{
    {"bool", "bool", 0, 1, ""},
    {"char", "char", -128, 127, ""},
    {"i8", "signed char", -128, 127, ""},
    {"i16", "short", -32768, 32767, ""},
    {"i32", "int", std::numeric_limits<std::int32_t>::min(), 2147483647, ""},
    {"i64", "long long", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), "ll"},
    {"u8", "unsigned char", 0, 255, ""},
    {"u16", "unsigned short", 0, 65535, ""},
    {"u32", "unsigned int", 0, 4294967295, "u"},
    {"u64", "unsigned long long", 0, std::numeric_limits<std::uint64_t>::max(), "ull"},
    {"f32", "float", 0, 0, "f"},
    {"f64", "double", 0, 0, ""},
    {"type", "", 0, 0, ""},
    {"code", "", 0, 0, ""},
}};

const TypeFacts& facts_of(ParameterType type) noexcept { return k_types[static_cast<std::size_t>(type)]; }

bool is_plain_integer(ParameterType type) noexcept {
  return facts_of(type).highest != 0 && type != ParameterType::boolean && type != ParameterType::character;
}

bool is_real(ParameterType type) noexcept { return type == ParameterType::f32 || type == ParameterType::f64; }

enum class Dialect { modern, without_bit_cast };

/// Everything the writers below share, so that they stay short.
struct Writer {
  std::string& out;
  const Parameter& parameter;
  std::string_view template_name;
  Dialect dialect;

  [[noreturn]] void refuse(const std::string& problem) const {
    throw TemplateError(std::string(template_name), parameter.name, "parameter '" + parameter.name + "' " + problem);
  }
  [[noreturn]] void mistyped(const std::string& given) const {
    refuse("is declared " + declaration_of(parameter) + " and was given " + given);
  }

  template <typename T>
  void append_number(T value) const {
    std::array<char, 64> buffer;
    char* end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    out.append(buffer.data(), end);
  }

  template <std::integral T>
  void integer(T value) const {
    const TypeFacts& facts = facts_of(parameter.type);
    bool fits = value < 0 ? std::cmp_greater_equal(value, facts.lowest) : std::cmp_less_equal(value, facts.highest);
    if (!fits) {
      refuse("is " + std::to_string(value) + ": " + std::string(facts.declared) + " holds " +
             std::to_string(facts.lowest) + " to " + std::to_string(facts.highest));
    }
    switch (parameter.type) {
      case ParameterType::boolean:
        out += value != 0 ? "true" : "false";
        return;
      case ParameterType::character:
        character(static_cast<int>(value));
        return;
      case ParameterType::i32:
      case ParameterType::i64:
        break;
      default:
        append_number(value);
        out += facts.suffix;
        return;
    }
    // A literal has no sign: the lowest number is one below the lowest that can be negated.
    if (std::cmp_equal(value, facts.lowest)) {
      out += '(';
      append_number(static_cast<std::int64_t>(value) + 1);
      out += facts.suffix;
      out += " - 1)";
      return;
    }
    append_number(value);
    out += facts.suffix;
  }

  void character(int value) const {
    if (value >= 0x20 && value < 0x7F) {
      out += '\'';
      if (value == '\'' || value == '\\') {
        out += '\\';
      }
      out += static_cast<char>(value);
      out += '\'';
      return;
    }
    out += "char(";
    append_number(value);
    out += ')';
  }

  void f32(float value) const {
    if (std::isfinite(value)) {
      hex_float(value);
      return;
    }
    auto bits = std::bit_cast<std::uint32_t>(value);
    non_finite("float", "u", "f", bits, bits == 0x7FC00000u, std::isinf(value), std::signbit(value));
  }

  void f64(double value) const {
    if (std::isfinite(value)) {
      hex_float(value);
      return;
    }
    auto bits = std::bit_cast<std::uint64_t>(value);
    non_finite("double", "ull", "", bits, bits == 0x7FF8000000000000u, std::isinf(value), std::signbit(value));
  }

  template <std::floating_point T>
  void hex_float(T value) const {
    std::array<char, 64> buffer;
    char* end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::hex).ptr;
    const char* start = buffer.data();
    if (*start == '-') {
      out += '-';
      ++start;
    }
    out += "0x";
    out.append(start, static_cast<std::size_t>(end - start));
    out += facts_of(parameter.type).suffix;
  }

  void non_finite(std::string_view type, std::string_view bits_suffix, std::string_view real_suffix, std::uint64_t bits,
                  bool is_default_nan, bool is_infinite, bool is_negative) const {
    if (dialect == Dialect::without_bit_cast) {
      std::string zero = "0.0" + std::string(real_suffix);
      if (is_infinite) {
        out += (is_negative ? "(-1.0" : "(1.0") + std::string(real_suffix) + " / " + zero + ")";
      } else if (is_default_nan) {
        out += "(" + zero + " / " + zero + ")";
      } else {
        out += "a_nan_with_a_payload_needs_nvrtc_12";
      }
      return;
    }
    std::array<char, 32> buffer;
    char* end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), bits, 16).ptr;
    out += "__builtin_bit_cast(";
    out += type;
    out += ", 0x";
    out.append(buffer.data(), end);
    out += bits_suffix;
    out += ')';
  }

  template <std::integral T>
  void number(T value) const {
    switch (parameter.type) {
      case ParameterType::f32:
        f32(static_cast<float>(value));
        return;
      case ParameterType::f64:
        f64(static_cast<double>(value));
        return;
      default:
        integer(value);
        return;
    }
  }

  void number(double value) const {
    if (parameter.type == ParameterType::f64) {
      f64(value);
      return;
    }
    if (parameter.type != ParameterType::f32) {
      mistyped("the real " + text_of(value));
    }
    float nearest = nearest_float(value);
    if (std::isinf(nearest) && std::isfinite(value)) {
      refuse("is " + text_of(value) + ": f32 holds finite values up to 3.4028235e+38");
    }
    if (nearest == 0.0F && value != 0.0) {
      refuse("is " + text_of(value) +
             ", which f32 would round to 0: its smallest value is 1e-45; give 0 if that will do");
    }
    f32(nearest);
  }

  /// As `integer` writes them one by one, but straight into `out`: tables have many entries.
  template <std::integral T>
  void integer_list(const std::vector<T>& values) const {
    const TypeFacts& facts = facts_of(parameter.type);
    constexpr std::size_t k_longest = 32;  // "(-9223372036854775807ll - 1), "
    constexpr std::size_t k_chunk = 1024;
    std::size_t size = out.size();
    out += '{';
    ++size;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i % k_chunk == 0) {
        out.resize(size + k_chunk * k_longest);
      }
      T value = values[i];
      bool is_inside = value < 0 ? std::cmp_greater(value, facts.lowest) : std::cmp_less_equal(value, facts.highest);
      if (!is_inside) {
        out.resize(size);
        integer(value);  // the lowest, which has a form of its own, or an error
        size = out.size();
        out.resize(size + k_chunk * k_longest);
      } else {
        size =
            static_cast<std::size_t>(std::to_chars(out.data() + size, out.data() + out.size(), value).ptr - out.data());
        size += facts.suffix.copy(out.data() + size, facts.suffix.size());
      }
      out[size++] = ',';
      out[size++] = ' ';
    }
    out.resize(size - 2);
    out += '}';
  }

  /// std::vector of numbers; `{1, 2, 3}`.
  template <typename T>
  void list(const std::vector<T>& values) const {
    if (!parameter.is_list) {
      mistyped("a list of " + std::to_string(values.size()));
    }
    if (parameter.length && values.size() != *parameter.length) {
      refuse("takes a list of " + std::to_string(*parameter.length) + " and was given " +
             std::to_string(values.size()));
    }
    if (values.empty()) {
      refuse("takes a list of at least 1 and was given an empty one");
    }
    if constexpr (std::is_integral_v<T>) {
      if (is_plain_integer(parameter.type)) {
        integer_list(values);
        return;
      }
    }
    out += '{';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i != 0) {
        out += ", ";
      }
      number(values[i]);
    }
    out += '}';
  }
};

void append(std::string& out, const Parameter& parameter, const Value& value, std::string_view template_name,
            Dialect dialect) {
  Writer writer{out, parameter, template_name, dialect};
  std::visit(
      [&](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        constexpr bool k_is_list = std::is_same_v<Held, std::vector<std::int64_t>> ||
                                   std::is_same_v<Held, std::vector<std::uint64_t>> ||
                                   std::is_same_v<Held, std::vector<double>>;
        bool is_number = parameter.type != ParameterType::type && parameter.type != ParameterType::code;
        if constexpr (std::is_same_v<Held, TypeName>) {
          if (parameter.type != ParameterType::type) {
            writer.mistyped("the type " + quote(held.text));
          }
          out += checked_type_name(parameter, held.text, template_name);
        } else if constexpr (std::is_same_v<Held, Code>) {
          if (parameter.type != ParameterType::code) {
            writer.mistyped("a piece of code");
          }
          if (held.text.find('\0') != std::string::npos) {
            writer.refuse("holds a NUL character, which ends a source");
          }
          if (std::string problem = problem_of_snippet(held.text); !problem.empty()) {
            writer.refuse(problem + ": the compiler would read the disk, which no key covers");
          }
          out += held.text;
        } else if (!is_number) {
          writer.mistyped(describe(value));
        } else if constexpr (k_is_list) {
          writer.list(held);
        } else if (parameter.is_list) {
          writer.mistyped(describe(value));
        } else if constexpr (std::is_same_v<Held, bool>) {
          if (parameter.type != ParameterType::boolean) {
            writer.mistyped(describe(value));
          }
          out += held ? "true" : "false";
        } else {
          writer.number(held);
        }
      },
      value.storage());
}

}  // namespace

std::string_view declared_name(ParameterType type) noexcept { return facts_of(type).declared; }
std::string_view cpp_name(ParameterType type) noexcept { return facts_of(type).cpp; }

std::string accepted_words(ParameterType type) {
  switch (type) {
    case ParameterType::boolean:
      return "true, false, 1 or 0";
    case ParameterType::f32:
    case ParameterType::f64:
      return "a number such as 0.125, 0x1p-3, inf or nan, within the range of a double";
    default:
      break;
  }
  const TypeFacts& facts = facts_of(type);
  return std::string(type == ParameterType::character ? "a character such as 'c' or " : "") + "a whole number from " +
         std::to_string(facts.lowest) + " to " + std::to_string(facts.highest);
}

void append_literal(std::string& out, const Parameter& parameter, const Value& value, std::string_view template_name) {
  append(out, parameter, value, template_name, Dialect::modern);
}

void append_literal_without_bit_cast(std::string& out, const Parameter& parameter, const Value& value,
                                     std::string_view template_name) {
  append(out, parameter, value, template_name, Dialect::without_bit_cast);
}

bool has_non_finite(const Parameter& parameter, const Value& value) noexcept {
  if (!is_real(parameter.type)) {
    return false;
  }
  if (const double* real = std::get_if<double>(&value.storage())) {
    return !std::isfinite(*real);
  }
  if (const auto* list = std::get_if<std::vector<double>>(&value.storage())) {
    for (double real : *list) {
      if (!std::isfinite(real)) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace kiln::jit
