#pragma once

#include <string>
#include <vector>

#include "kiln/source.hpp"
#include "kiln/target.hpp"

namespace kiln::jit {

/// The argument list for one compile. `keyed` can change the result and is part of the key; `serving` only serves the
/// run. NVRTC is given `keyed` then `serving`, less what its version does not know.
struct CompileArguments {
  std::vector<std::string> keyed;
  std::vector<std::string> serving;
};

/// The exact, canonical arguments: architecture and language standard from Kiln, then the source's own options in their
/// order, each in one spelling ("-use_fast_math" is "--use_fast_math", {"-D", "X=1"} is "--define-macro=X=1"). The
/// standard is C++17 unless an option says otherwise. Pure. `target` must not be native. Throws Error{invalid_argument}
/// naming an option that Kiln reserves (architecture, include paths, output kinds, whatever reads or writes the disk),
/// with what to use instead.
CompileArguments compile_arguments(const Source& source, const Target& target);

/// Whether `compile_arguments` takes these options of a source. Pure. Throws what that would.
void check_options(const std::vector<std::string>& options);

}  // namespace kiln::jit
