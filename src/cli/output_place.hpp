#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "kiln/service_options.hpp"

namespace kiln::cli {

/// Throws UsageError: what is to be written at `output` would take the place of `what`.
[[noreturn]] void refuse_output(const std::filesystem::path& output, const std::string& what);

/// Throws UsageError where a template looks for a header, `places` being Template::header_files: what is written there
/// would be one.
void require_no_header(const std::filesystem::path& output, std::span<const std::filesystem::path> places);

/// Throws UsageError where something else is kept, there or not: by a service with these options, or by a cache in that
/// folder; and std::runtime_error beside a database, under a name for what belongs to it. What is a database itself is
/// left to whoever writes.
void require_free_place(const std::filesystem::path& output, const ServiceOptions& options);

}  // namespace kiln::cli
