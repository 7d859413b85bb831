#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/output.hpp"

namespace kiln::cli {

/// Prints rows under headings, columns aligned. Memory does not grow with the number of rows: the widths are those
/// of the first thousand.
class Table {
 public:
  struct Column {
    std::string heading;
    bool right = false;  ///< aligned to the right, as numbers are
  };

  Table(Output& out, std::vector<Column> columns);
  void add(std::vector<std::string> row);
  /// Prints what is still held back. Nothing at all is printed for a table without rows.
  void finish();

 private:
  void print(const std::vector<std::string>& row);

  Output& out_;
  std::vector<Column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> held_;
  bool started_ = false;
};

}  // namespace kiln::cli
