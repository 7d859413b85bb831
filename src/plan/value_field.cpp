#include "plan/value_field.hpp"

#include <algorithm>
#include <limits>

namespace kiln::plan {

namespace {

double read_real(const Field& field) {
  constexpr double k_infinity = std::numeric_limits<double>::infinity();
  const JsonNode& node = field.node();
  if (const auto* real = std::get_if<double>(&node.value)) {
    return *real;
  }
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) {
    return static_cast<double>(*integer);
  }
  if (const auto* integer = std::get_if<std::uint64_t>(&node.value)) {
    return static_cast<double>(*integer);
  }
  if (const auto* word = std::get_if<std::string>(&node.value)) {  // JSON has no word for these three
    if (*word == "inf") {
      return k_infinity;
    }
    if (*word == "-inf") {
      return -k_infinity;
    }
    if (*word == "nan") {
      return std::numeric_limits<double>::quiet_NaN();
    }
  }
  field.fail("a number, \"inf\", \"-inf\" or \"nan\" is wanted, not " + describe(node));
}

Value read_integer(const Field& field) {
  const JsonNode& node = field.node();
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) {
    return *integer;
  }
  if (const auto* integer = std::get_if<std::uint64_t>(&node.value)) {
    return *integer;
  }
  field.fail("an integer is wanted, not " + describe(node));
}

/// A character is an integer, or a text of one byte.
Value read_character(const Field& field) {
  if (!field.is_text()) {
    return read_integer(field);
  }
  if (field.text().size() != 1) {
    field.fail("a text of one byte, or an integer, is wanted, not " + describe(field.node()));
  }
  return static_cast<std::int64_t>(static_cast<signed char>(field.text().front()));
}

Value read_scalar(const Field& field, ParameterType type) {
  switch (type) {
    case ParameterType::boolean:
      return field.truth();
    case ParameterType::character:
      return read_character(field);
    case ParameterType::f32:
    case ParameterType::f64:
      return read_real(field);
    case ParameterType::type:
      return TypeName{field.text()};
    case ParameterType::code:
      return Code{field.text()};
    default:
      return read_integer(field);
  }
}

Value read_list(const Field& field, ParameterType type) {
  std::vector<Field> elements = field.list();
  if (type == ParameterType::f32 || type == ParameterType::f64) {
    std::vector<double> reals;
    for (const Field& element : elements) {
      reals.push_back(read_real(element));
    }
    return reals;
  }
  auto is_large = [](const Field& element) { return std::holds_alternative<std::uint64_t>(element.node().value); };
  if (std::ranges::any_of(elements, is_large)) {
    std::vector<std::uint64_t> naturals;
    for (const Field& element : elements) {
      naturals.push_back(element.count(0));
    }
    return naturals;
  }
  std::vector<std::int64_t> integers;
  for (const Field& element : elements) {
    Value value = read_scalar(element, type);
    const bool* truth = std::get_if<bool>(&value.storage());
    integers.push_back(truth != nullptr ? std::int64_t{*truth} : std::get<std::int64_t>(value.storage()));
  }
  return integers;
}

}  // namespace

Value read_value(const Field& field, const Parameter& parameter) {
  return parameter.is_list ? read_list(field, parameter.type) : read_scalar(field, parameter.type);
}

}  // namespace kiln::plan
