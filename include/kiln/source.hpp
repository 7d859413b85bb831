#pragma once

#include <string>
#include <vector>

#include "kiln/export.h"
#include "kiln/template.hpp"
#include "kiln/value.hpp"

namespace kiln {

/// A template with its values written as literals: everything a compiler needs, in memory.
struct Source {
  std::string name;                  ///< the template's name; the main file's name in the compiler's log
  std::string text;                  ///< the main file: the template's text
  std::vector<Header> headers;       ///< generated headers first, then the template's own
  std::vector<std::string> entries;  ///< C++ name expressions of the kernels
  std::vector<std::string> options;  ///< the template's further NVRTC options
  /// The values as canonical literals, by name: what the key covers. Defaults are filled in.
  std::vector<std::pair<std::string, std::string>> literals;
};

/// Writes `values` into `tmpl`. Pure. Throws TemplateError naming the parameter, the value and what would fit
/// when one is unknown, missing, of the wrong type, out of range, or a list of the wrong length.
KILN_EXPORT Source instantiate(const Template& tmpl, const Values& values);

/// The source as one text to read: the generated headers, then the main file.
KILN_EXPORT std::string to_text(const Source& source);

}  // namespace kiln
