#include <cctype>
#include <string>

#include "jit/literal.hpp"
#include "kiln/error.hpp"
#include "kiln/quote.hpp"

namespace kiln::jit {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// What is wrong with `text`; empty if nothing is. A type name becomes part of a declaration, so nothing may be in it
/// that could end the declaration or hide its end.
std::string problem_of(std::string_view text) {
  constexpr std::string_view k_punctuation = " :<>,*&()[]-";
  std::string open;
  for (char c : text) {
    if (!is_word(c) && k_punctuation.find(c) == std::string_view::npos) {
      return quote(std::string_view(&c, 1)) + " cannot be part of a type name";
    }
    if (c == '<' || c == '(' || c == '[') {
      open += c;
    }
    if (c == '>' || c == ')' || c == ']') {
      char opening = c == '>' ? '<' : (c == ')' ? '(' : '[');
      if (open.empty() || open.back() != opening) {
        return std::string("'") + c + "' closes nothing";
      }
      open.pop_back();
    }
  }
  if (!open.empty()) {
    return std::string("'") + open.back() + "' is not closed";
  }
  if (text.empty()) {
    return "it is empty";
  }
  bool starts_well = std::isalpha(static_cast<unsigned char>(text.front())) != 0 || text.front() == '_' ||
                     (text.starts_with("::") && text.size() > 2);
  if (!starts_well) {
    return "a type name starts with a letter, '_' or '::'";
  }
  return {};
}

}  // namespace

std::string checked_type_name(const Parameter& parameter, std::string_view text, std::string_view template_name) {
  std::string canonical;
  for (char c : text) {
    bool is_blank = c == ' ' || c == '\t';
    if (!is_blank) {
      canonical += c;
    } else if (!canonical.empty() && canonical.back() != ' ') {
      canonical += ' ';
    }
  }
  if (canonical.ends_with(' ')) {
    canonical.pop_back();
  }
  std::string problem = problem_of(canonical);
  if (!problem.empty()) {
    throw TemplateError(std::string(template_name), parameter.name,
                        "parameter '" + parameter.name + "' was given the type " + quote(text) + ": " + problem +
                            "; write one C++ type, for example float or my::vec<int, 4>");
  }
  return canonical;
}

}  // namespace kiln::jit
