#include "kiln/value_text.hpp"

#include <cmath>

#include "jit/literal.hpp"
#include "jit/value_text.hpp"
#include "kiln/error.hpp"

namespace kiln {

Value parse_value(const Parameter& parameter, std::string_view text) { return jit::parse_value(parameter, text); }

float to_f32(double number) {
  const float nearest = jit::nearest_float(number);
  if (std::isfinite(number) && (std::isinf(nearest) || (nearest == 0.0F && number != 0.0))) {
    throw Error(ErrorCode::invalid_argument, jit::text_of(number) +
                                                 " is beyond what f32 holds: 0, and from 1e-45 to 3.4028235e+38 "
                                                 "either way");
  }
  return nearest;
}

}  // namespace kiln
