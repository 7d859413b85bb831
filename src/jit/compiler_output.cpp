#include "jit/compiler_output.hpp"

#include <cctype>
#include <charconv>

namespace kiln::jit {

namespace {

constexpr std::string_view k_info = "ptxas info";

/// The text after "ptxas info    : ".
std::string_view info_in(std::string_view line) {
  std::size_t colon = line.find(": ");
  return line.starts_with(k_info) && colon != std::string_view::npos ? line.substr(colon + 2) : std::string_view();
}

/// The number before `word` in `line`: "12 bytes spill stores".
std::int64_t number_before(std::string_view line, std::string_view word) {
  std::size_t end = line.find(word);
  std::size_t begin = end;
  while (begin != std::string_view::npos && begin > 0 &&
         std::isdigit(static_cast<unsigned char>(line[begin - 1])) != 0) {
    --begin;
  }
  std::int64_t number = 0;
  if (end != std::string_view::npos) {
    std::from_chars(line.data() + begin, line.data() + end, number);
  }
  return number;
}

/// Said only because of --verbose. Other remarks of the assembler ("Potential Performance Loss") are the user's.
bool is_report(std::string_view info) {
  return info.starts_with("Compiling entry function") || info.starts_with("Used ") ||
         info.starts_with("Compile time") || info.starts_with("Overriding maximum register limit") ||
         info.find(" bytes gmem") != std::string_view::npos;
}

}  // namespace

SplitLog split_log(std::string_view log) {
  constexpr std::string_view k_properties = "Function properties for ";
  SplitLog split;
  std::string function;
  while (!log.empty()) {
    std::size_t end = log.find('\n');
    std::string_view line = log.substr(0, end == std::string_view::npos ? log.size() : end + 1);
    log.remove_prefix(line.size());
    std::string_view info = info_in(line);
    if (info.starts_with(k_properties)) {
      function = info.substr(k_properties.size());
      while (!function.empty() && std::isspace(static_cast<unsigned char>(function.back())) != 0) {
        function.pop_back();
      }
    } else if (line.find(" bytes stack frame, ") != std::string_view::npos && !function.empty()) {
      split.spills[function] += number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
      function.clear();
    } else if (!is_report(info)) {
      split.text += line;
    }
  }
  bool is_blank = split.text.find_first_not_of(" \r\n") == std::string::npos;
  if (is_blank) {
    split.text.clear();
  }
  return split;
}

int build_of(std::string_view ptx) noexcept {
  constexpr std::string_view k_release = "Cuda compilation tools, release ";
  std::size_t at = ptx.find(k_release);
  if (at == std::string_view::npos) {
    return 0;
  }
  std::string_view line = ptx.substr(at, ptx.find('\n', at) - at);
  std::size_t dot = line.rfind('.');
  int build = 0;
  if (dot != std::string_view::npos) {
    std::from_chars(line.data() + dot + 1, line.data() + line.size(), build);
  }
  return build;
}

namespace {

void append_numbered(std::string& out, std::string_view name, std::string_view text) {
  out += "---- ";
  out += name;
  out += '\n';
  for (int number = 1; !text.empty(); ++number) {
    std::size_t end = text.find('\n');
    std::string digits = std::to_string(number);
    out.append(digits.size() < 5 ? 5 - digits.size() : 0, ' ');
    out += digits + " | ";
    out += text.substr(0, end);
    out += '\n';
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

}  // namespace

std::string numbered(const Source& source) {
  std::string out;
  for (const Header& header : source.headers) {
    if (header.name == "kiln/values.h" || header.name.starts_with("kiln/code/")) {
      append_numbered(out, header.name, header.text);
    }
  }
  append_numbered(out, source.name, source.text);
  return out;
}

}  // namespace kiln::jit
