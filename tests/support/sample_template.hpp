#pragma once

#include <string>

#include "kiln/template.hpp"

namespace kiln::test {

/// A kernel that is different for each `n`.
inline Template sample_template(TemplateOptions options = {}, const std::string& more = "") {
  return Template::from_text("sample.cu",
                             "// kiln: parameter n: u32\n"
                             "// kiln: entry sample\n"
                             "#include \"kiln/values.h\"\n"
                             "extern \"C\" __global__ void sample(unsigned* x) { *x = kiln::n; }\n" +
                                 more,
                             std::move(options));
}

/// One that does not compile, in its fourth line.
inline Template broken_template(const std::string& more = "") {
  return Template::from_text("broken.cu",
                             "// kiln: parameter n: u32\n"
                             "// kiln: entry broken\n"
                             "#include \"kiln/values.h\"\n"
                             "#error this one is broken\n"
                             "extern \"C\" __global__ void broken() {}\n" +
                                 more);
}

}  // namespace kiln::test
