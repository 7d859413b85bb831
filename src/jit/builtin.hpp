#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace kiln::jit {

/// A file of templates/ as the build embedded it.
struct BuiltinFile {
  std::string_view name;  ///< of a template: "permute_direct"; of a header: "kiln/vector.cuh"
  std::string_view text;
};

/// Sorted by name. Defined in the file the build generates from templates/files.cmake.
std::span<const BuiltinFile> builtin_templates() noexcept;
std::span<const BuiltinFile> builtin_headers() noexcept;

/// A header that ships inside the library, by the name it is included by.
std::optional<std::string_view> builtin_header(std::string_view name) noexcept;
std::optional<std::string_view> builtin_template(std::string_view name) noexcept;

}  // namespace kiln::jit
