#pragma once

#include <string>
#include <vector>

#include "cli/json_line.hpp"
#include "kiln/maintenance.hpp"

namespace kiln::cli {

Json to_json(const std::vector<Damage>& damage);
/// One line each.
void print(const std::vector<Damage>& damage, Output& out);
/// Whether damage is left, of which one line on standard error says how much, and `remedy`.
bool is_left(const std::vector<Damage>& damage, Output& out, const std::string& remedy);

}  // namespace kiln::cli
