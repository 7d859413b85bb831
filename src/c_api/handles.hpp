#pragma once

#include <string>

#include "c_api/guard.hpp"
#include "kiln/kernel.hpp"
#include "kiln/permuter.hpp"
#include "kiln/service.hpp"
#include "kiln/service_options.hpp"
#include "kiln/target.hpp"
#include "kiln/template.hpp"
#include "kiln/value.hpp"

// What the C API's opaque types hold: each a value of the C++ API.

struct kiln_options {
  kiln::ServiceOptions value;
};

struct kiln_values {
  kiln::Values value;
};

struct kiln_template {
  kiln::Template value;
};

struct kiln_service {
  kiln::Service value;
  kiln::Permuter permuter{value};
};

struct kiln_kernel {
  kiln::Kernel value;
};

struct kiln_permutation {
  kiln::PermuteKernel value;
};

struct kiln_artifact {
  kiln::Lookup lookup;
  // The texts that the info structs point to.
  std::string key = lookup.artifact->key.text();
  std::string target = lookup.artifact->target.text();
  std::string compiler = lookup.artifact->compiler.text();
};

namespace kiln::c_api {

inline Target target_of(const char* text) {
  return text == nullptr ? Target::native() : Target::parse(required_text(text, "target"));
}
inline Values values_of(const kiln_values* values) { return values == nullptr ? Values() : values->value; }

}  // namespace kiln::c_api
