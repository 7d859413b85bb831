#pragma once

#include <string>
#include <string_view>

#include "kiln/template.hpp"
#include "kiln/value.hpp"

namespace kiln::jit {

/// As a declaration writes it: "u16".
std::string_view declared_name(ParameterType type) noexcept;
/// As CUDA C++ writes it: "unsigned short". Empty for `type` and `code`.
std::string_view cpp_name(ParameterType type) noexcept;
/// What `parse_value` takes for one number of this type, for messages: "a whole number from 0 to 255". Not for types
/// and code.
std::string accepted_words(ParameterType type);

/// Appends `value` as the C++ text that gives a constant of the parameter's type exactly that value, on every
/// supported NVRTC and on host compilers, with no header: integers in decimal with the suffix of their type, reals as
/// hex floats, infinities and NaNs by their bits, lists in braces, types with blanks made canonical, code as it is.
/// An f32 takes the nearest float of a real or an integer; a finite value beyond its range is an error. The constant of
/// a signalling NaN is exact, but NVRTC makes it quiet where it writes it as data. Throws TemplateError naming the
/// parameter, the value and what would fit.
void append_literal(std::string& out, const Parameter& parameter, const Value& value, std::string_view template_name);

/// Does this f32 or f64 constant, or any of the list, have bits that decimal and hex floats cannot say?
bool has_non_finite(const Parameter& parameter, const Value& value) noexcept;

/// The same for compilers without __builtin_bit_cast (NVRTC 11): infinities and the default NaN as divisions by zero,
/// which only NVRTC folds. A NaN with a payload becomes a name that is declared nowhere and says what to do.
void append_literal_without_bit_cast(std::string& out, const Parameter& parameter, const Value& value,
                                     std::string_view template_name);

/// Reads a value as a declaration's default or a command line writes it: 36, -1, 0x1p-3, inf, nan, true, 'c',
/// {1, 2, 3} or 1,2,3 for lists; a type or a snippet as it stands. Throws Error{invalid_argument}: what would fit.
Value parse_value(const Parameter& parameter, std::string_view text);
/// The same, with the parameter named in a TemplateError.
Value parse_value(const Parameter& parameter, std::string_view text, std::string_view template_name);

/// `text` with runs of blanks as one, or TemplateError saying what is wrong with it as a type name.
std::string checked_type_name(const Parameter& parameter, std::string_view text, std::string_view template_name);

}  // namespace kiln::jit
