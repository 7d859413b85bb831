#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kiln/export.h"
#include "kiln/service_options.hpp"

namespace kiln {

/// A file that is Kiln's: whoever writes something else in its place loses what Kiln keeps there, or will.
struct OwnFile {
  std::filesystem::path path;
  std::string what;  ///< "where a cache keeps its counters"
};

/// Every file, there or not, that services with these options keep or read: those of the cache, whatever its mode, and
/// the packs, the plan and the compiler that the options name. Beside a database there may be more, named after it:
/// kiln.db-wal. Touches no disk.
KILN_EXPORT std::vector<OwnFile> own_files(const ServiceOptions& options);

}  // namespace kiln
