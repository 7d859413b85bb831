#pragma once

#include <string>

namespace kiln::cli {

/// Throws UsageError for what no key can begin with, whatever the cache holds.
void check_key_prefix(const std::string& text);

}  // namespace kiln::cli
