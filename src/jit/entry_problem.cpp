#include "jit/entry_problem.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "kiln/quote.hpp"

namespace kiln::jit {

namespace {

// NVRTC compiles the names in a file of its own behind the source: the first in its line 2.
constexpr std::string_view k_names_file = "__nv_name_map(";
constexpr std::string_view k_error = "): error: ";
constexpr std::size_t k_first_line = 2;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Behind the bracket that closes the one at `open`.
std::size_t behind_brackets(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0) {
      return at + 1;
    }
  }
  return text.size();
}

/// From behind __global__: the word before the parameter list, over attributes with brackets of their own.
std::string kernel_name(std::string_view text) {
  std::string_view last;
  for (std::size_t at = 0; at < text.size() && text[at] != ';' && text[at] != '{';) {
    if (is_word(text[at])) {
      std::size_t begin = at;
      while (at < text.size() && is_word(text[at])) {
        ++at;
      }
      last = text.substr(begin, at - begin);
    } else if (text[at] == '(' && (last.starts_with("__") || last.empty())) {
      at = behind_brackets(text, at);
    } else if (text[at] == '(') {
      return std::string(last);
    } else {
      ++at;
    }
  }
  return {};
}

void add_kernels(std::string_view text, std::vector<std::string>& kernels) {
  constexpr std::string_view k_keyword = "__global__";
  for (std::size_t at = text.find(k_keyword); at != std::string_view::npos; at = text.find(k_keyword, at)) {
    at += k_keyword.size();
    std::string name = kernel_name(text.substr(at));
    if (!name.empty() && std::find(kernels.begin(), kernels.end(), name) == kernels.end()) {
      kernels.push_back(std::move(name));
    }
  }
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

}  // namespace

std::vector<std::string> kernels_in(const Source& source) {
  std::vector<std::string> kernels;
  add_kernels(source.text, kernels);
  for (const Header& header : source.headers) {
    add_kernels(header.text, kernels);
  }
  return kernels;
}

std::string entry_problem(std::string_view log, const Source& source) {
  std::map<std::size_t, std::string_view> reasons;  // by entry; the first told is the cause
  while (!log.empty()) {
    std::size_t end = std::min(log.find('\n'), log.size());
    std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    std::size_t error = line.find(" error: ");
    if (error == std::string_view::npos || line.find("): ") > error) {
      continue;
    }
    std::size_t number = 0;
    if (!line.starts_with(k_names_file) ||
        std::from_chars(line.data() + k_names_file.size(), line.data() + line.size(), number).ec != std::errc() ||
        number < k_first_line || number - k_first_line >= source.entries.size()) {
      return {};
    }
    reasons.try_emplace(number - k_first_line, line.substr(line.find(k_error) + k_error.size()));
  }
  std::string problem;
  for (const auto& [entry, reason] : reasons) {
    problem += "entry " + quote(source.entries[entry]) + " names no kernel: " + std::string(reason) + "\n";
  }
  if (!problem.empty()) {
    std::vector<std::string> kernels = kernels_in(source);
    problem += kernels.empty() ? "there is no kernel in the template" : "the kernels there are: " + joined(kernels);
    problem += "\n";
  }
  return problem;
}

}  // namespace kiln::jit
