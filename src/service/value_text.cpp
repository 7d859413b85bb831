#include "kiln/value_text.hpp"

#include "jit/literal.hpp"

namespace kiln {

Value parse_value(const Parameter& parameter, std::string_view text, std::string_view template_name) {
  return jit::parse_value(parameter, text, template_name);
}

}  // namespace kiln
