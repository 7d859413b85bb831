#include "permutation/ending.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <vector>

#include "core/cpp_name.hpp"
#include "kiln/error.hpp"
#include "kiln/quote.hpp"

namespace kiln::permutation {

namespace {

/// An element type that has a number for each of its values: `type` is that of templates/kiln/numbers.cuh.
struct Number {
  std::string_view name;
  std::string_view type;
  unsigned bytes;
};

constexpr std::array k_numbers{
    Number{"f16", "kiln::F16", 2}, Number{"bf16", "kiln::Bf16", 2}, Number{"f32", "kiln::F32", 4},
    Number{"f64", "kiln::F64", 8}, Number{"e4m3", "kiln::E4m3", 1}, Number{"e5m2", "kiln::E5m2", 1},
    Number{"i8", "kiln::I8", 1},   Number{"u8", "kiln::U8", 1},     Number{"i16", "kiln::I16", 2},
    Number{"u16", "kiln::U16", 2}, Number{"i32", "kiln::I32", 4},   Number{"u32", "kiln::U32", 4},
};
constexpr std::uint64_t k_most_literals = 65'536;  // what compiles in bounded time
constexpr std::uint64_t k_most_positions = std::numeric_limits<std::uint32_t>::max();
constexpr std::string_view k_list_prefix = "ending_";

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

const Number& number_of(const char* field, std::string_view name) {
  std::string known;
  for (const Number& number : k_numbers) {
    if (number.name == name) {
      return number;
    }
    known += (known.empty() ? "" : ", ") + std::string(number.name);
  }
  refuse("ending." + std::string(field) + " is " + quote(name) + ": an ending computes with one of " + known);
}

void check_list_name(const PermuteEnding& ending, const std::string& name) {
  constexpr std::string_view k_length = "_length";
  const std::string called = "ending.lists has the name " + quote(name) + ", which ";
  if (name == "value" || name == "position") {
    refuse(called + "every expression has for something else: choose another");
  }
  // It stands after a '_' in what Kiln writes.
  std::string problem = name.starts_with('_') ? "begins with '_'" : core::problem_of_name(name);
  if (!problem.empty()) {
    refuse(called + problem + ": choose another");
  }
  if (name.ends_with(k_length) && ending.lists.contains(name.substr(0, name.size() - k_length.size()))) {
    refuse(called + "is what the length of another of them is called: choose another");
  }
}

std::string_view closing_of(char open) noexcept { return open == '(' ? ")" : open == '[' ? "]" : "}"; }

/// `text` with each comment as blanks. Sets `open` if one does not end.
std::string without_comments(std::string_view text, bool& open) {
  std::string code(text);
  for (std::size_t at = 0; at + 1 < code.size(); ++at) {
    if (code[at] != '/' || (code[at + 1] != '/' && code[at + 1] != '*')) {
      continue;
    }
    const bool line = code[at + 1] == '/';
    const std::size_t found = code.find(line ? "\n" : "*/", at + 2);
    open = open || (!line && found == std::string::npos);
    const std::size_t end = found == std::string::npos ? code.size() : line ? found : found + 2;
    std::replace_if(
        code.begin() + static_cast<std::ptrdiff_t>(at), code.begin() + static_cast<std::ptrdiff_t>(end),
        [](char c) { return c != '\n'; }, ' ');
  }
  return code;
}

std::string problem_of_brackets(std::string_view code) {
  std::vector<char> open;
  for (const char c : code) {
    if (c == '(' || c == '[' || c == '{') {
      open.push_back(c);
    } else if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || closing_of(open.back()).front() != c) {
        return "has a '" + std::string(1, c) + "' that closes nothing";
      }
      open.pop_back();
    } else if (c == ';' && std::ranges::find(open, '{') == open.end()) {
      return "has a ';': it must be one expression";
    }
  }
  return open.empty() ? "" : "has a '" + std::string(1, open.back()) + "' that is not closed";
}

/// An expression's names, numbers and marks with a blank around each: " s [ position ] * 2 ".
std::string spaced(std::string_view expression) {
  bool open_comment = false;
  const std::string code = without_comments(expression, open_comment);
  const auto is_of_word = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::string words = " ";
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (std::isspace(static_cast<unsigned char>(code[at])) != 0) {
      continue;
    }
    words += code[at];
    if (!is_of_word(code[at]) || at + 1 == code.size() || !is_of_word(code[at + 1])) {
      words += ' ';
    }
  }
  return words;
}

/// Whether NAME[position] is certainly evaluated at every position: nothing can leave out a part of the expression.
bool reads_every_position(const std::string& words, const std::string& name) {
  constexpr std::array<std::string_view, 9> k_leaves_out{" ? ",  " & & ",    " | | ",      " { ",       " and ",
                                                         " or ", " sizeof ", " decltype ", " noexcept "};
  const auto has = [&words](std::string_view part) { return words.find(part) != std::string::npos; };
  return has(" " + name + " [ position ] ") && std::ranges::none_of(k_leaves_out, has);
}

void check_lists(const PermuteEnding& ending, std::uint64_t row_out) {
  const std::string words = spaced(ending.expression);
  std::uint64_t numbers = 0;
  for (const auto& [name, list] : ending.lists) {
    check_list_name(ending, name);
    if (list.empty()) {
      refuse("ending.lists." + name + " is empty: it must have a number at least");
    }
    if (list.size() < row_out && reads_every_position(words, name)) {
      refuse("ending.lists." + name + " has the length " + std::to_string(list.size()) +
             ", and ending.expression reads it at each of " + std::to_string(row_out) + " positions: it must have " +
             std::to_string(row_out) + " numbers at least");
    }
    numbers += list.size();
  }
  if (numbers > k_most_literals) {
    refuse("ending.lists have " + std::to_string(numbers) + " numbers: they become literals, of which there may be " +
           std::to_string(k_most_literals));
  }
  if (ending.expression.empty() && !ending.lists.empty()) {
    refuse("ending.lists has " + quote(ending.lists.begin()->first) +
           ", and ending.expression is empty: a list is for an expression to use");
  }
}

/// So that an expression that is not finished ends where its own text does, and not where the template goes on. On a
/// line of its own behind a comment that would swallow the bracket.
std::string in_brackets(const std::string& expression) {
  return "(" + expression + (expression.find("//") == std::string::npos ? ")" : "\n)");
}

}  // namespace

bool changes_nothing(const PermuteEnding& ending) noexcept {
  return ending.from == ending.to && ending.expression.empty();
}

std::string problem_of_expression(std::string_view text) {
  bool open_comment = false;
  const std::string code = without_comments(text, open_comment);
  if (open_comment) {
    return "has a comment that does not end";
  }
  if (std::ranges::all_of(code, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; })) {
    return "is blank";
  }
  if (const std::size_t at = code.find_first_of("\"'#\\"); at != std::string::npos) {
    return "has a " + std::string(1, code[at]) + ": an expression over numbers has no texts, characters or directives";
  }
  for (const std::string_view digraph : {"<:", ":>", "<%", "%>", "%:"}) {
    if (code.find(digraph) != std::string::npos) {
      return "has a " + std::string(digraph) +
             ", which is another way to write a bracket or a '#': put a blank between";
    }
  }
  return problem_of_brackets(code);
}

unsigned ending_bytes(const PermuteEnding& ending, unsigned element_bytes, std::uint64_t row_out) {
  const Number& from = number_of("from", ending.from);
  const Number& to = number_of("to", ending.to);
  if (from.bytes != element_bytes) {
    refuse("element_bytes is " + std::to_string(element_bytes) + ": elements of ending.from, " + ending.from +
           ", have " + std::to_string(from.bytes) + " bytes");
  }
  if (row_out > k_most_positions) {
    refuse("a row of y has " + std::to_string(row_out) + " elements: with an ending there may be 4294967295");
  }
  if (!ending.expression.empty()) {
    if (const std::string problem = problem_of_expression(ending.expression); !problem.empty()) {
      refuse("ending.expression " + quote(ending.expression) + " " + problem);
    }
  }
  check_lists(ending, row_out);
  return to.bytes;
}

Template template_for(std::string_view builtin, const PermuteEnding* ending) {
  Template tmpl = Template::builtin(builtin);
  if (ending == nullptr || ending->lists.empty()) {
    return tmpl;
  }
  std::string text = tmpl.text();
  for (const auto& [name, list] : ending->lists) {
    text += "// kiln: parameter " + std::string(k_list_prefix) + name + ": f32[]\n";
  }
  return Template::from_text(tmpl.name(), text);
}

void set_ending(Values& values, const PermuteEnding* ending) {
  values.set("has_ending", ending != nullptr);
  if (ending == nullptr) {
    return;
  }
  values.set("from", TypeName{std::string(number_of("from", ending->from).type)})
      .set("to", TypeName{std::string(number_of("to", ending->to).type)});
  if (!ending->expression.empty()) {
    values.set("ending", Code{in_brackets(ending->expression)});
  }
  std::string names;
  for (const auto& [name, list] : ending->lists) {
    const std::string parameter = std::string(k_list_prefix) + name;
    values.set(parameter, list);
    names.append("[[maybe_unused]] const float (&").append(name).append(")[kiln::").append(parameter);
    names.append("_length] = kiln::").append(parameter).append(";\n");
  }
  if (!names.empty()) {
    values.set("lists", Code{names});
  }
}

}  // namespace kiln::permutation
