#pragma once

#include "cli/json_line.hpp"
#include "cli/table.hpp"
#include "kiln/entry.hpp"

namespace kiln::cli {

/// Lists entries as they come, as a table or as JSON, one object a line.
class EntryPrinter {
 public:
  EntryPrinter(Output& out, bool json);
  void add(const Entry& entry);
  void finish();
  std::size_t count() const noexcept { return count_; }

 private:
  Output& out_;
  bool json_;
  Table table_;
  std::size_t count_ = 0;
};

Json to_json(const Entry& entry);
const char* name_of(ImageKind kind) noexcept;

}  // namespace kiln::cli
