#include "cli/table.hpp"

#include <algorithm>
#include <utility>

namespace kiln::cli {

namespace {

constexpr std::size_t k_held = 1000;

}  // namespace

Table::Table(Output& out, std::vector<Column> columns) : out_(out), columns_(std::move(columns)) {
  for (const Column& column : columns_) {
    widths_.push_back(column.heading.size());
  }
}

void Table::add(std::vector<std::string> row) {
  if (started_) {
    print(row);
    return;
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    widths_[i] = std::max(widths_[i], row[i].size());
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
    std::string padding(row[i].size() < widths_[i] ? widths_[i] - row[i].size() : 0, ' ');
    line += columns_[i].right ? padding + row[i] : row[i] + padding;
    line += "  ";
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out_.line(line);
}

}  // namespace kiln::cli
