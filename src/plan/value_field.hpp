#pragma once

#include "kiln/template.hpp"
#include "kiln/value.hpp"
#include "plan/field.hpp"

namespace kiln::plan {

/// The value a plan gives for one parameter, read as the parameter's declared type wants it. Fails at the field for
/// JSON that cannot be of that type; whether it fits (range, length) is for `instantiate` to say.
Value read_value(const Field& field, const Parameter& parameter);

}  // namespace kiln::plan
