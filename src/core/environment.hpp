#pragma once

#include <optional>
#include <string>

namespace kiln::core {

/// The only place that reads environment variables. Absent when unset or empty. Not for hot paths: read once, when an
/// object is made.
std::optional<std::string> environment(const char* name);

}  // namespace kiln::core
