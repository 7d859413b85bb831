#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/permuter.hpp"
#include "kiln/template.hpp"
#include "kiln/value.hpp"

namespace kiln::permutation {

/// Does it leave every element as it is?
bool changes_nothing(const PermuteEnding& ending) noexcept;

/// Bytes of an element of y. Throws Error{invalid_argument} naming what is wrong with the ending, or with the shape
/// that has it: types that there are not, an expression that is not one, lists without a name or too long, rows of more
/// than 2^32 - 1 elements, an element size that is not that of `from`.
unsigned ending_bytes(const PermuteEnding& ending, unsigned element_bytes, std::uint64_t row_out);

/// What is wrong with `text` as one expression of CUDA C++, so far as can be told without a compiler: nothing that
/// stands around it may become part of it. Empty if nothing is.
std::string problem_of_expression(std::string_view text);

/// The built-in template with the ending's lists declared as parameters, and the values that write it in. Where there
/// is no ending: the template as it is.
Template template_for(std::string_view builtin, const PermuteEnding* ending);
void set_ending(Values& values, const PermuteEnding* ending);

}  // namespace kiln::permutation
