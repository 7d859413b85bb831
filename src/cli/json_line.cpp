#include "cli/json_line.hpp"

namespace kiln::cli {

std::string to_text(const Json& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace); }

void print_json(Output& out, const Json& object) {
  out.line(to_text(object));
  out.flush();
}

}  // namespace kiln::cli
