#pragma once

#include <filesystem>
#include <string>

#include "kiln/export.h"

namespace kiln {

/// Why the system refused a file, by its errno, and what to do: "there is no such file or folder; check the name".
/// Pure.
KILN_EXPORT std::string file_trouble(int error);

/// A file's name as messages show it: quoted as by `quote`, with room for all but absurd paths.
KILN_EXPORT std::string quote_path(const std::filesystem::path& file);

}  // namespace kiln
