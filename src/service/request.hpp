#pragma once

#include <string>

#include "jit/options.hpp"
#include "kiln/artifact.hpp"
#include "kiln/source.hpp"
#include "kiln/target.hpp"
#include "kiln/template.hpp"
#include "kiln/value.hpp"

namespace kiln::service {

/// A request with everything that follows from it alone: the first three steps of the request path.
struct Request {
  Source source;
  Target target;  ///< never native
  jit::CompileArguments arguments;
  std::string spec;
  Key key;
};

/// Pure. `target` must not be native. Throws what `instantiate` and `compile_arguments` throw.
Request make_request(const Template& tmpl, const Values& values, const Target& target);

}  // namespace kiln::service
