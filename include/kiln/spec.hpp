#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/export.h"

namespace kiln {

/// The fields of an artifact's spec in order, as label and content: "format", "template", "source", "value NAME",
/// "header NAME", "option", "entry", "target" (docs/cache-format.md). Empty when `spec` is malformed. Pure.
KILN_EXPORT std::vector<std::pair<std::string, std::string>> spec_fields(std::string_view spec);

}  // namespace kiln
