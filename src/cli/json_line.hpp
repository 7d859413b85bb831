#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/output.hpp"

namespace kiln::cli {

/// Fields in the order in which they are written.
using Json = nlohmann::ordered_json;

/// `object` on one line. Text that is not UTF-8 has its bad bytes replaced.
std::string to_text(const Json& object);
/// One object on a line of its own, there at once for who reads along.
void print_json(Output& out, const Json& object);

}  // namespace kiln::cli
