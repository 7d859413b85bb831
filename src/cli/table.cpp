#include "cli/table.hpp"

#include <algorithm>
#include <utility>

namespace kiln::cli {

namespace {

constexpr std::size_t k_held = 1000;

/// Characters, not bytes: those of UTF-8 that go on with one begin with the bits 10.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

Table::Table(Output& out, std::vector<Column> columns) : out_(out), columns_(std::move(columns)) {
  for (const Column& column : columns_) {
    widths_.push_back(width_of(column.heading));
  }
}

void Table::add(std::vector<std::string> row) {
  if (started_) {
    print(row);
    return;
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    widths_[i] = std::max(widths_[i], width_of(row[i]));
  }
  held_.push_back(std::move(row));
  if (held_.size() == k_held) {
    finish();
  }
}

void Table::finish() {
  if (held_.empty()) {
    return;
  }
  std::vector<std::string> headings;
  for (const Column& column : columns_) {
    headings.push_back(column.heading);
  }
  print(headings);
  for (const std::vector<std::string>& row : held_) {
    print(row);
  }
  held_.clear();
  started_ = true;
}

void Table::print(const std::vector<std::string>& row) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    std::size_t width = width_of(row[i]);
    std::string padding(width < widths_[i] ? widths_[i] - width : 0, ' ');
    line += columns_[i].right ? padding + row[i] : row[i] + padding;
    line += "  ";
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out_.line(line);
}

}  // namespace kiln::cli
