#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kiln/source.hpp"

namespace kiln::jit {

/// When all that is wrong with a source is the names of its entries: which, why, and what kernels there are. Empty when
/// the log tells of other errors as well, which come first. Pure.
std::string entry_problem(std::string_view log, const Source& source);

/// The kernels that the text of a source and its headers defines, as far as can be seen without a compiler. Pure.
std::vector<std::string> kernels_in(const Source& source);

}  // namespace kiln::jit
