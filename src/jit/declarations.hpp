#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kiln/template.hpp"

namespace kiln::jit {

/// What a template says about itself in its `// kiln:` lines.
struct Declarations {
  std::vector<Parameter> parameters;
  std::vector<std::string> entries;
};

/// Reads every line that begins with `// kiln:`. The grammar, one declaration a line:
///
///     declaration = "parameter" name ":" type [ "[" [ length ] "]" ] [ "=" default ]
///                 | "entry" expression { "," expression }
///
/// A default is read as the parameter's type; lists as `{1, 2, 3}`. Commas inside <>, () or {} belong to an
/// expression. Throws TemplateError naming the line, what stands there and what should.
Declarations read_declarations(std::string_view template_name, std::string_view text);

/// The message for a value that no declared parameter has the name of: lists those there are.
std::string unknown_parameter(const Template& tmpl, std::string_view name);

}  // namespace kiln::jit
