#pragma once

#include <string_view>

#include "kiln/export.h"
#include "kiln/template.hpp"
#include "kiln/value.hpp"

namespace kiln {

/// Reads a value for `parameter`, as a declaration's default and the command line write it: 36, -1, 0x1p-3, inf, nan,
/// true, 'c'; {1, 2, 3} or 1,2,3 for lists; a type or a snippet as it stands. Pure. Throws Error{invalid_argument} with
/// the word that does not fit and what would; whose value it is, the caller knows.
KILN_EXPORT Value parse_value(const Parameter& parameter, std::string_view text);

/// The nearest f32. Pure. Throws Error{invalid_argument} for a finite number that f32 has not: it would become
/// infinite, or 0 though it is not.
KILN_EXPORT float to_f32(double number);

}  // namespace kiln
