#pragma once

#include <string>
#include <string_view>

namespace kiln::cli {

/// The lines of `source` that the errors in a compiler's log point at, with two lines around each: the source's lines
/// are numbered already. `name` is the main file's name in the log. Empty when the log points nowhere in it.
std::string excerpt(std::string_view log, std::string_view source, std::string_view name);

}  // namespace kiln::cli
