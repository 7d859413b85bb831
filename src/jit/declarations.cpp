#include "jit/declarations.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "core/cpp_name.hpp"
#include "jit/literal.hpp"
#include "kiln/error.hpp"
#include "kiln/quote.hpp"

namespace kiln::jit {

namespace {

constexpr std::string_view k_blanks = " \t\r";

constexpr std::array<ParameterType, 14> k_all_types{
    ParameterType::boolean, ParameterType::character, ParameterType::i8,   ParameterType::i16, ParameterType::i32,
    ParameterType::i64,     ParameterType::u8,        ParameterType::u16,  ParameterType::u32, ParameterType::u64,
    ParameterType::f32,     ParameterType::f64,       ParameterType::type, ParameterType::code};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Reads one line from left to right, and knows where it is for errors.
class Line {
 public:
  Line(std::string_view template_name, int number, std::string_view text)
      : template_name_(template_name), number_(number), text_(text), rest_(text) {
    while (!rest_.empty() && k_blanks.find(rest_.back()) != std::string_view::npos) {
      rest_.remove_suffix(1);
    }
    skip_blanks();
  }

  bool at_end() const { return rest_.empty(); }
  int number() const { return number_; }
  std::string_view template_name() const { return template_name_; }

  std::string_view word() {
    auto end = std::find_if_not(rest_.begin(), rest_.end(), is_word);
    return take(static_cast<std::size_t>(end - rest_.begin()));
  }
  bool accept(char c) {
    if (rest_.empty() || rest_.front() != c) {
      return false;
    }
    take(1);
    return true;
  }
  std::string_view remainder() { return take(rest_.size()); }

  [[noreturn]] void refuse(const std::string& problem, const std::string& parameter = {}) const {
    throw TemplateError(
        std::string(template_name_), parameter,
        "line " + std::to_string(number_) + ": " + problem + " in " + quote("kiln:" + std::string(text_)));
  }

 private:
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(k_blanks), rest_.size())); }
  std::string_view take(std::size_t size) {
    std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    skip_blanks();
    return taken;
  }

  std::string_view template_name_;
  int number_;
  std::string_view text_;
  std::string_view rest_;
};

std::optional<ParameterType> type_called(std::string_view name) {
  auto found = std::find_if(k_all_types.begin(), k_all_types.end(),
                            [&](ParameterType type) { return declared_name(type) == name; });
  return found == k_all_types.end() ? std::nullopt : std::optional(*found);
}

void read_brackets(Line& line, Parameter& parameter) {
  if (!line.accept('[')) {
    return;
  }
  if (parameter.type == ParameterType::type || parameter.type == ParameterType::code) {
    line.refuse("there are no lists of " + std::string(declared_name(parameter.type)), parameter.name);
  }
  parameter.is_list = true;
  std::string_view digits = line.word();
  if (!digits.empty()) {
    std::size_t length = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
    if (error != std::errc() || end != digits.data() + digits.size() || length == 0) {
      line.refuse("a list's length is a number of at least 1, not " + quote(digits) + ",", parameter.name);
    }
    parameter.length = length;
  }
  if (!line.accept(']')) {
    line.refuse("']' is missing after the list's length", parameter.name);
  }
}

Parameter read_parameter(Line& line) {
  Parameter parameter;
  parameter.line = line.number();
  parameter.name = line.word();
  bool is_name = !parameter.name.empty() && std::isdigit(static_cast<unsigned char>(parameter.name.front())) == 0;
  if (!is_name) {
    line.refuse("a parameter's name is missing: write 'parameter NAME: TYPE'");
  }
  // It becomes a variable or a type of that name.
  if (const std::string problem = core::problem_of_name(parameter.name); !problem.empty()) {
    line.refuse("'" + parameter.name + "' " + problem + " and no name for a parameter", parameter.name);
  }
  if (!line.accept(':')) {
    line.refuse("':' and a type are missing after '" + parameter.name + "'", parameter.name);
  }
  std::string_view type_name = line.word();
  std::optional<ParameterType> type = type_called(type_name);
  if (!type) {
    line.refuse(
        quote(type_name) + " is no type for a parameter (bool char i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 type code)",
        parameter.name);
  }
  parameter.type = *type;
  read_brackets(line, parameter);
  if (line.accept('=')) {
    parameter.fallback = std::string(line.remainder());
  } else if (!line.at_end()) {
    line.refuse(quote(line.remainder()) + " follows the declaration; remarks take a line of their own,",
                parameter.name);
  }
  return parameter;
}

/// A default that does not fit is the template's fault, so it is found when the template is made.
void check_default(const Line& line, const Parameter& parameter) {
  if (!parameter.fallback) {
    return;
  }
  try {
    std::string literal;
    append_literal(literal, parameter, parse_value(parameter, *parameter.fallback, line.template_name()),
                   line.template_name());
  } catch (const TemplateError& error) {
    std::string_view problem = error.what();
    problem.remove_prefix(problem.find(": ") + 2);  // the template's name, which comes again
    throw TemplateError(error.template_name(), error.parameter(),
                        "line " + std::to_string(line.number()) + ": the default: " + std::string(problem));
  }
}

void check_names(const Line& line, const std::vector<Parameter>& parameters) {
  const Parameter& added = parameters.back();
  for (auto other = parameters.begin(); other + 1 != parameters.end(); ++other) {
    if (other->name == added.name) {
      line.refuse("parameter '" + added.name + "' was declared in line " + std::to_string(other->line) + " already",
                  added.name);
    }
    for (const auto& [list, name] : {std::pair(&*other, &added), std::pair(&added, &*other)}) {
      if (list->is_list && name->name == list->name + "_length") {
        line.refuse("'" + name->name + "' is what the length of the list '" + list->name + "' is called", added.name);
      }
    }
  }
}

void read_entries(Line& line, std::vector<std::string>& entries) {
  std::string_view text = line.remainder();
  std::string current;
  int depth = 0;
  auto finish = [&] {
    while (!current.empty() && k_blanks.find(current.back()) != std::string_view::npos) {
      current.pop_back();
    }
    if (current.empty()) {
      line.refuse("a kernel's name is missing: write 'entry NAME'");
    }
    if (std::find(entries.begin(), entries.end(), current) != entries.end()) {
      line.refuse("entry " + quote(current) + " is declared twice");
    }
    entries.push_back(std::move(current));
    current.clear();
  };
  for (char c : text) {
    depth += (c == '<' || c == '(' || c == '{') ? 1 : 0;
    depth -= (c == '>' || c == ')' || c == '}') ? 1 : 0;
    if (c == ',' && depth == 0) {
      finish();
    } else if (!current.empty() || k_blanks.find(c) == std::string_view::npos) {
      current += c;
    }
  }
  if (depth != 0) {
    line.refuse("brackets do not match");
  }
  finish();
}

/// The text after "// kiln:", if the line begins so.
std::optional<std::string_view> declaration_in(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(k_blanks), line.size()));
  if (!line.starts_with("//")) {
    return std::nullopt;
  }
  line.remove_prefix(2);
  line.remove_prefix(std::min(line.find_first_not_of(k_blanks), line.size()));
  if (!line.starts_with("kiln:")) {
    return std::nullopt;
  }
  return line.substr(5);
}

}  // namespace

Declarations read_declarations(std::string_view template_name, std::string_view text) {
  Declarations declarations;
  int number = 0;
  while (!text.empty()) {
    ++number;
    std::size_t end = text.find('\n');
    std::optional<std::string_view> declaration = declaration_in(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!declaration) {
      continue;
    }
    Line line(template_name, number, *declaration);
    std::string_view verb = line.word();
    if (verb == "parameter") {
      declarations.parameters.push_back(read_parameter(line));
      check_names(line, declarations.parameters);
      check_default(line, declarations.parameters.back());
    } else if (verb == "entry") {
      read_entries(line, declarations.entries);
    } else {
      line.refuse(quote(verb) + " is neither 'parameter' nor 'entry'");
    }
  }
  return declarations;
}

std::string unknown_parameter(const Template& tmpl, std::string_view name) {
  std::string known;
  for (const Parameter& parameter : tmpl.parameters()) {
    known += (known.empty() ? "" : ", ") + parameter.name;
  }
  return "there is no parameter " + quote(name) + ": the template declares " + (known.empty() ? "none" : known);
}

}  // namespace kiln::jit
