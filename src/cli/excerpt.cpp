#include "cli/excerpt.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <system_error>
#include <vector>

namespace kiln::cli {

namespace {

/// Numbers of lines. Wider than any that a log writes: a #line directive may give a line any number.
using Lines = std::set<std::int64_t>;

constexpr std::int64_t k_around = 2;
constexpr std::string_view k_file_mark = "---- ";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

/// Where the place of an error ends: at the bracket of "scale.cu(12): error: …", or of a catastrophic one, such as that
/// of an #error, after which nothing is compiled.
std::size_t end_of_place(std::string_view line) {
  std::size_t plain = line.find("): error");
  return plain != std::string_view::npos ? plain : line.find("): catastrophic error");
}

/// The lines of each file to show.
std::map<std::string, Lines, std::less<>> wanted_lines(std::string_view log) {
  std::map<std::string, Lines, std::less<>> wanted;
  for (std::string_view line : lines_of(log)) {
    std::size_t error = end_of_place(line);
    std::size_t open = error == std::string_view::npos ? error : line.rfind('(', error);
    std::uint32_t read = 0;
    if (open == std::string_view::npos) {
      continue;
    }
    auto [end, problem] = std::from_chars(line.data() + open + 1, line.data() + error, read);
    if (problem != std::errc() || end != line.data() + error) {
      continue;
    }
    std::int64_t number = read;
    for (std::int64_t shown = number - k_around; shown <= number + k_around; ++shown) {
      wanted[std::string(line.substr(0, open))].insert(shown);
    }
  }
  return wanted;
}

}  // namespace

std::string excerpt(std::string_view log, std::string_view source) {
  auto wanted = wanted_lines(log);
  std::string shown;
  const Lines* file = nullptr;  // whose lines are passing, if any of them is wanted
  std::string_view heading;
  std::int64_t last = 0;
  for (std::string_view line : lines_of(source)) {
    if (line.starts_with(k_file_mark)) {
      auto found = wanted.find(line.substr(k_file_mark.size()));
      file = found == wanted.end() ? nullptr : &found->second;
      heading = line;
      last = 0;
      continue;
    }
    std::size_t digit = line.find_first_not_of(' ');
    std::int64_t number = 0;
    if (file == nullptr || digit == std::string_view::npos) {
      continue;
    }
    std::from_chars(line.data() + digit, line.data() + line.size(), number);
    if (!file->contains(number)) {
      continue;
    }
    if (last == 0) {
      shown += std::string(heading) + "\n";
    } else if (number != last + 1) {
      shown += "    …\n";
    }
    shown += std::string(line) + "\n";
    last = number;
  }
  return shown;
}

}  // namespace kiln::cli
