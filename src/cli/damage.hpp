#pragma once

#include <vector>

#include "cli/json_line.hpp"
#include "kiln/maintenance.hpp"

namespace kiln::cli {

Json to_json(const std::vector<Damage>& damage);
/// One line each.
void print(const std::vector<Damage>& damage, Output& out);

}  // namespace kiln::cli
