#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "jit/include_scanner.hpp"

namespace kiln::jit {

/// Every definition of every macro in a closed world, by name: which of them holds where is for a compiler to know.
using Definitions = std::unordered_multimap<std::string_view, MacroDefinition>;

/// Could #include followed by `text`, a macro and what comes behind it, name a file by an absolute path, which the
/// compiler would read from the disk? Decided without knowing which definitions are in force, so it may say yes for
/// what never happens, but not no for what does. Macros that stand for one literal header name, directly or through
/// others, are taken as harmless: such names are rewritten. Pure.
bool may_be_absolute(std::string_view text, const Definitions& definitions);

/// What in a piece of code could make the compiler read the disk, with its line: an absolute header name, or an
/// #include that does not name its header itself. Empty if nothing could. Pure.
std::string problem_of_snippet(std::string_view code);

}  // namespace kiln::jit
