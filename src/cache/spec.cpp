#include "cache/spec.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>

namespace kiln::cache {

namespace {

constexpr std::string_view k_values_header = "kiln/values.h";
constexpr std::string_view k_code_prefix = "kiln/code/";
constexpr std::string_view k_code_suffix = ".h";
constexpr std::size_t k_max_digits = 20;

/// A snippet made a header: it holds what is a field already.
bool is_snippet(const Header& header, const Source& source) {
  std::string_view name = header.name;
  if (name.size() <= k_code_prefix.size() + k_code_suffix.size() || !name.starts_with(k_code_prefix) ||
      !name.ends_with(k_code_suffix)) {
    return false;
  }
  std::string_view parameter = name.substr(k_code_prefix.size());
  parameter.remove_suffix(k_code_suffix.size());
  return std::any_of(source.literals.begin(), source.literals.end(), [&](const auto& literal) {
    return literal.first == parameter && header.text == literal.second + "\n";
  });
}

/// The template's own headers: those after the generated ones, which are the constants made of the values and then the
/// snippets. What they hold is a function of the format and the values, which are fields already. Whatever is in doubt
/// counts as the template's.
std::span<const Header> own_headers(const Source& source) {
  std::size_t first = !source.headers.empty() && source.headers.front().name == k_values_header ? 1 : 0;
  while (first < source.headers.size() && is_snippet(source.headers[first], source)) {
    ++first;
  }
  return std::span<const Header>(source.headers).subspan(first);
}

class SpecWriter {
 public:
  explicit SpecWriter(std::size_t capacity) { text_.reserve(capacity); }

  void add(std::string_view label, std::string_view name, std::string_view content) {
    add_number(label.size() + name.size());
    text_ += ' ';
    add_number(content.size());
    text_ += ' ';
    text_ += label;
    text_ += name;
    text_ += '\n';
    text_ += content;
    text_ += '\n';
  }
  void add(std::string_view label, std::string_view content) { add(label, {}, content); }
  std::string take() { return std::move(text_); }

  /// The most that one field takes beyond its label and content.
  static constexpr std::size_t k_overhead = 2 * k_max_digits + 4;

 private:
  void add_number(std::size_t number) {
    std::array<char, k_max_digits> digits;
    auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    text_.append(digits.data(), end);
  }

  std::string text_;
};

std::size_t capacity_for(const Source& source, std::span<const Header> headers,
                         std::span<const std::string> arguments) {
  constexpr std::size_t k_label = 16;
  std::size_t fields = 4 + source.literals.size() + headers.size() + arguments.size() + source.entries.size();
  std::size_t bytes = fields * (SpecWriter::k_overhead + k_label) + source.name.size() + source.text.size();
  for (const auto& [name, literal] : source.literals) {
    bytes += name.size() + literal.size();
  }
  for (const Header& header : headers) {
    bytes += header.name.size() + header.text.size();
  }
  for (const std::string& argument : arguments) {
    bytes += argument.size();
  }
  for (const std::string& entry : source.entries) {
    bytes += entry.size();
  }
  return bytes;
}

/// Takes a number without leading zeros and the blank after it, so that a spec has one spelling only.
std::optional<std::size_t> take_number(std::string_view& rest) {
  std::size_t number = 0;
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  auto digits = static_cast<std::size_t>(end - rest.data());
  if (error != std::errc() || digits == rest.size() || *end != ' ' || (rest.front() == '0' && digits > 1)) {
    return std::nullopt;
  }
  rest.remove_prefix(digits + 1);
  return number;
}

/// Takes `size` bytes and the line end after them.
std::optional<std::string_view> take_text(std::string_view& rest, std::size_t size) {
  if (size >= rest.size() || rest[size] != '\n') {
    return std::nullopt;
  }
  std::string_view text = rest.substr(0, size);
  rest.remove_prefix(size + 1);
  return text;
}

std::optional<SpecField> take_field(std::string_view& rest) {
  std::optional<std::size_t> label_size = take_number(rest);
  if (!label_size) {
    return std::nullopt;
  }
  std::optional<std::size_t> content_size = take_number(rest);
  if (!content_size) {
    return std::nullopt;
  }
  std::optional<std::string_view> label = take_text(rest, *label_size);
  if (!label) {
    return std::nullopt;
  }
  std::optional<std::string_view> content = take_text(rest, *content_size);
  if (!content) {
    return std::nullopt;
  }
  return SpecField{*label, *content};
}

}  // namespace

std::string make_spec(const Source& source, std::span<const std::string> arguments, const Target& target) {
  std::span<const Header> headers = own_headers(source);
  SpecWriter writer(capacity_for(source, headers, arguments));
  writer.add("format", std::to_string(k_spec_format));
  writer.add("template", source.name);
  writer.add("source", source.text);
  for (const auto& [name, literal] : source.literals) {
    writer.add("value ", name, literal);
  }
  for (const Header& header : headers) {
    writer.add("header ", header.name, header.text);
  }
  for (const std::string& argument : arguments) {
    writer.add("option", argument);
  }
  for (const std::string& entry : source.entries) {
    writer.add("entry", entry);
  }
  writer.add("target", target.text());
  return writer.take();
}

std::vector<SpecField> parse_spec(std::string_view spec) {
  std::vector<SpecField> fields;
  while (!spec.empty()) {
    std::optional<SpecField> field = take_field(spec);
    if (!field) {
      return {};
    }
    fields.push_back(*field);
  }
  return fields;
}

}  // namespace kiln::cache
