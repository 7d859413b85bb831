#include <algorithm>
#include <string>
#include <utility>

#include "jit/declarations.hpp"
#include "jit/literal.hpp"
#include "kiln/error.hpp"
#include "kiln/source.hpp"

namespace kiln {

namespace {

void refuse_unknown(const Template& tmpl, const Values& values) {
  for (const auto& [name, value] : values) {
    bool is_declared = std::any_of(tmpl.parameters().begin(), tmpl.parameters().end(),
                                   [&](const Parameter& parameter) { return parameter.name == name; });
    if (!is_declared) {
      throw TemplateError(tmpl.name(), name, jit::unknown_parameter(tmpl, name));
    }
  }
}

std::size_t length_of(const Value& value) {
  return std::visit(
      [](const auto& held) -> std::size_t {
        if constexpr (requires { held.size(); }) {
          return held.size();
        } else {
          return 0;
        }
      },
      value.storage());
}

/// "inline constexpr unsigned short table[36]", up to the initialiser.
void append_variable(std::string& out, const Parameter& parameter, std::size_t length) {
  out += "inline constexpr ";
  out += jit::cpp_name(parameter.type);
  out += ' ';
  out += parameter.name;
  if (parameter.is_list) {
    out += '[' + std::to_string(length) + ']';
  }
  out += " = ";
}

void append_constant(std::string& out, const Parameter& parameter, const Value& value, const std::string& literal,
                     const std::string& template_name) {
  std::size_t length = length_of(value);
  if (parameter.is_list) {
    out += "inline constexpr unsigned int " + parameter.name + "_length = " + std::to_string(length) + "u;\n";
  }
  bool needs_bits = jit::has_non_finite(parameter, value);
  if (needs_bits) {
    out += "#if __has_builtin(__builtin_bit_cast)\n";
  }
  append_variable(out, parameter, length);
  out += literal;
  out += ";\n";
  if (needs_bits) {
    out += "#else\n";
    append_variable(out, parameter, length);
    jit::append_literal_without_bit_cast(out, parameter, value, template_name);
    out += ";\n#endif\n";
  }
}

}  // namespace

Source instantiate(const Template& tmpl, const Values& values) {
  refuse_unknown(tmpl, values);
  Source source;
  source.name = tmpl.name();
  source.text = tmpl.text();
  source.entries = tmpl.entries();
  source.options = tmpl.options();
  source.headers.reserve(tmpl.headers().size() + 2);
  source.headers.push_back({"kiln/values.h", "#pragma once\nnamespace kiln {\n"});
  source.literals.reserve(tmpl.parameters().size());

  for (const Parameter& parameter : tmpl.parameters()) {
    const Value* given = values.find(parameter.name);
    std::optional<Value> fallback;
    if (given == nullptr) {
      if (!parameter.fallback) {
        throw TemplateError(tmpl.name(), parameter.name,
                            "parameter '" + parameter.name + "' has no value and no default (declared in line " +
                                std::to_string(parameter.line) + ")");
      }
      fallback = jit::parse_value(parameter, *parameter.fallback, tmpl.name());
      given = &*fallback;
    }
    std::string literal;
    jit::append_literal(literal, parameter, *given, tmpl.name());
    std::string& constants = source.headers.front().text;
    switch (parameter.type) {
      case ParameterType::code:
        source.headers.push_back({"kiln/code/" + parameter.name + ".h", literal + "\n"});
        break;
      case ParameterType::type:
        constants += "using " + parameter.name + " = " + literal + ";\n";
        break;
      default:
        append_constant(constants, parameter, *given, literal, tmpl.name());
    }
    source.literals.emplace_back(parameter.name, std::move(literal));
  }
  source.headers.front().text += "}  // namespace kiln\n";
  std::sort(source.literals.begin(), source.literals.end());
  source.headers.insert(source.headers.end(), tmpl.headers().begin(), tmpl.headers().end());
  return source;
}

std::string to_text(const Source& source) {
  std::string text;
  for (const Header& header : source.headers) {
    bool is_generated = header.name == "kiln/values.h" || header.name.starts_with("kiln/code/");
    if (is_generated) {
      text += "// ---- " + header.name + "\n" + header.text;
    }
  }
  text += "// ---- " + source.name + "\n" + source.text;
  if (!source.text.ends_with('\n')) {
    text += '\n';
  }
  return text;
}

}  // namespace kiln
