#include "jit/computed_include.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "kiln/quote.hpp"

namespace kiln::jit {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// `text` as the preprocessor sees it: lines joined, comments as blanks, no blanks around. Header names and strings
/// stay.
std::string plain(std::string_view text) {
  std::string joined;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t newline = text.substr(i).starts_with("\\\n") ? 2 : text.substr(i).starts_with("\\\r\n") ? 3 : 0;
    if (newline == 0) {
      joined += text[i];
    } else {
      i += newline - 1;
    }
  }
  std::string out;
  for (std::size_t i = 0; i < joined.size();) {
    std::string_view rest = std::string_view(joined).substr(i);
    if (rest.front() == '"') {
      std::size_t end = std::min(rest.find('"', 1), rest.size() - 1);
      out += rest.substr(0, end + 1);
      i += end + 1;
    } else if (rest.starts_with("/*")) {
      std::size_t end = rest.find("*/", 2);
      out += ' ';
      i = end == std::string_view::npos ? joined.size() : i + end + 2;
    } else if (rest.starts_with("//")) {
      break;
    } else {
      out += joined[i++];
    }
  }
  auto first = std::find_if_not(out.begin(), out.end(), is_blank);
  auto last = std::find_if_not(out.rbegin(), std::reverse_iterator(first), is_blank).base();
  return {first, last};
}

/// The word that begins at `at`; empty if none does.
std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_word(text[end])) {
    ++end;
  }
  return text.substr(at, end - at);
}

bool is_one_word(std::string_view text) { return !text.empty() && word_at(text, 0).size() == text.size(); }

/// The word at the end of `text` is among those of `parameters`, a macro's list, which stands for more where it ends in
/// "...".
bool ends_with_any(std::string_view text, std::string_view parameters) {
  std::size_t begin = text.size();
  while (begin > 0 && is_word(text[begin - 1])) {
    --begin;
  }
  std::string_view last = text.substr(begin);
  if (last.empty() || parameters.empty()) {
    return false;
  }
  for (std::size_t at = parameters.find(last); at != std::string_view::npos; at = parameters.find(last, at + 1)) {
    bool is_whole = !is_word(parameters[at - 1]) && word_at(parameters, at).size() == last.size();
    if (is_whole) {
      return true;
    }
  }
  return last == "__VA_ARGS__";
}

bool is_literal(std::string_view text, char open, char close) {
  return text.size() > 2 && text.front() == open && text.find(close, 1) == text.size() - 1;
}

/// Looks for a '/' that could come to stand first in a name.
class Search {
 public:
  explicit Search(const Definitions& definitions) : definitions_(definitions) {}

  bool finds(std::string_view text) {
    std::string start = plain(text);
    if (is_one_word(start)) {
      return follows_alias(start);
    }
    return reaches(start, {}) || (has_empty_argument_ && has_path_after_parameter_);
  }

 private:
  /// A macro without arguments: harmless where it stands for a literal name.
  bool follows_alias(const std::string& name) {
    if (!seen_.insert(name).second) {
      return false;
    }
    auto [first, last] = definitions_.equal_range(name);
    bool found = name == "__FILE__" || name == "__BASE_FILE__";  // #line may have made it anything
    for (; first != last && !found; ++first) {
      const MacroDefinition& macro = first->second;
      std::string body = plain(macro.body);
      if (!macro.parameters.empty() || is_literal(body, '"', '"')) {
        continue;  // a function's name without arguments stands for nothing
      }
      if (is_one_word(body)) {
        found = follows_alias(body);
      } else if (is_literal(body, '<', '>')) {
        found = body[1] != '/' && reaches(body, {});
      } else {
        found = reaches(body, {});
      }
    }
    return found;
  }

  /// Any text that can become part of the name.
  bool reaches(std::string_view text, std::string_view parameters) {
    for (std::size_t i = 0; i < text.size();) {
      char c = text[i];
      if (std::string_view word = word_at(text, i); !word.empty()) {
        if (reaches_body_of(std::string(word))) {
          return true;
        }
        i += word.size();
        continue;
      }
      if (c == '/') {
        char before = i == 0 ? ' ' : text[i - 1];
        if (!is_word(before) && before != '.' && before != '-' && before != '+' && before != '/') {
          return true;
        }
        has_path_after_parameter_ = has_path_after_parameter_ || ends_with_any(text.substr(0, i), parameters);
      }
      if (c == '(' || c == ',') {
        std::size_t next = i + 1;
        while (next < text.size() && is_blank(text[next])) {
          ++next;
        }
        has_empty_argument_ = has_empty_argument_ || next == text.size() || text[next] == ',' || text[next] == ')';
      }
      ++i;
    }
    return false;
  }

  bool reaches_body_of(const std::string& name) {
    if (name == "__FILE__" || name == "__BASE_FILE__") {
      return true;
    }
    if (!reached_.insert(name).second) {
      return false;
    }
    auto [first, last] = definitions_.equal_range(name);
    for (; first != last; ++first) {
      std::string body = plain(first->second.body);
      // A macro that vanishes lets what follows it come first.
      if (body.empty() || reaches(body, first->second.parameters)) {
        return true;
      }
    }
    return false;
  }

  const Definitions& definitions_;
  std::set<std::string> seen_;
  std::set<std::string> reached_;
  bool has_empty_argument_ = false;
  bool has_path_after_parameter_ = false;
};

}  // namespace

bool may_be_absolute(std::string_view text, const Definitions& definitions) { return Search(definitions).finds(text); }

std::string problem_of_snippet(std::string_view code) {
  Scan scan = scan_includes(code);
  auto in_line = [](int line) { return " in its line " + std::to_string(line); };
  for (const Mention& mention : scan.mentions) {
    switch (mention.kind) {
      case Mention::Kind::include:
      case Mention::Kind::has_include:
      case Mention::Kind::argument:
        if (mention.header.text.starts_with('/')) {
          return "names the header " + quote(mention.header.text) + " by an absolute path" + in_line(mention.line);
        }
        break;
      default:
        return "has an #include that does not name its header itself" + in_line(mention.line);
    }
  }
  for (const MacroDefinition& macro : scan.definitions) {
    std::string body = plain(macro.body);
    if (body.starts_with('/') || body.starts_with("\"/") || body.starts_with("</")) {
      return "defines " + quote(macro.name) + " as the begin of an absolute path";
    }
  }
  return {};
}

}  // namespace kiln::jit
