#pragma once

#include <filesystem>
#include <system_error>

#include "kiln/export.h"

namespace kiln {

/// Where a file is really written: the end of the symbolic links at `file`, which stay; `file` itself where there is
/// none. The end need not be there. Sets `error` for links that lead in a circle or cannot be read, and returns an
/// empty path then.
KILN_EXPORT std::filesystem::path through_links(const std::filesystem::path& file, std::error_code& error);

}  // namespace kiln
