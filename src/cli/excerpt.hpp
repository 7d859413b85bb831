#pragma once

#include <string>
#include <string_view>

namespace kiln::cli {

/// The lines that the errors in a compiler's log point at, with two lines around each, out of a CompileError's source,
/// whose lines are numbered. Empty when the log points nowhere in it.
std::string excerpt(std::string_view log, std::string_view source);

}  // namespace kiln::cli
