#pragma once

#include <string>

#include "kiln/template.hpp"
#include "kiln/value.hpp"

namespace kiln::jit {

/// "u16[36]", "code": as a declaration writes it.
std::string declaration_of(const Parameter& parameter);
/// A value for an error message: "the integer 5", "a list of 36", "the type 'float'".
std::string describe(const Value& value);
/// The shortest decimal text that reads back as `value`.
std::string text_of(double value);
/// Rounds to nearest, ties to even. A NaN keeps its sign, its being quiet or not, and the upper bits of its payload,
/// which the processor's own conversion would change.
float nearest_float(double value) noexcept;

}  // namespace kiln::jit
