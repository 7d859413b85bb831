#pragma once

#include <nlohmann/json.hpp>

#include "cli/output.hpp"

namespace kiln::cli {

/// Fields in the order in which they are written.
using Json = nlohmann::ordered_json;

/// One object on a line of its own, there at once for who reads along. Text that is not UTF-8 has its bad bytes
/// replaced.
inline void print_json(Output& out, const Json& object) {
  out.line(object.dump(-1, ' ', false, Json::error_handler_t::replace));
  out.flush();
}

}  // namespace kiln::cli
