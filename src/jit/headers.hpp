#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/template.hpp"

namespace kiln::jit {

/// Where a template's headers may come from.
struct HeaderSearch {
  std::filesystem::path beside;  ///< the folder of the template's own file; empty when it has none
  std::vector<std::filesystem::path> include_dirs;
  std::map<std::string, std::string> memory;  ///< by include name; before anything on disk
  /// The template's NVRTC options: a -D there may stand for a header.
  std::vector<std::string> options;
  bool takes_code = false;  ///< snippets may include any header in memory, so all of them count
};

struct Closure {
  std::string text;             ///< the main file
  std::vector<Header> headers;  ///< sorted by name
  /// Where on disk they were looked for, and what __has_include tests looked for, there or not: sorted, one file
  /// perhaps by several paths.
  std::vector<std::filesystem::path> files;
};

/// Every header that `text` may reach, in active branches or not, read once.
///
/// NVRTC finds a header in memory by the exact text of the include directive: it knows neither "beside the including
/// file" nor `.`/`..`, #include_next finds the same file again, and __has_include sees nothing before NVRTC 12. So each
/// file gets one unique name, the one it is first included by, and directives that mean another file than NVRTC would
/// take are rewritten, as are __has_include tests (to 1 or 0). Lines keep their numbers. No name holds a folder that is
/// not in the including directive, so the result is the same wherever the files lie.
///
/// Resolved as C++ compilers do: quoted names beside the including file, then memory, Kiln's own headers, then
/// `include_dirs` in order. A name that cannot be found is left for NVRTC to report, should its branch be active; an
/// absolute one loses its leading '/', so that NVRTC never reads the disk.
/// Throws TemplateError for a macro that would have to mean two files of one name, and, with file and line, for an
/// #include whose name is computed such that it could be absolute, or that cannot be understood.
Closure find_headers(std::string_view template_name, std::string text, const HeaderSearch& search);

}  // namespace kiln::jit
