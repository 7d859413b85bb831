#pragma once

#include <filesystem>

#include "kiln/template.hpp"
#include "plan/field.hpp"

namespace kiln::plan {

/// The template a plan describes (docs/plan-format.md): a text is a file; an object has "file", "builtin", or "name"
/// and "text", and may have "include_dirs", "headers", "options", "entries". Relative paths count from `folder`.
Template read_template(const Field& field, const std::filesystem::path& folder);

}  // namespace kiln::plan
