#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace kiln::jit {

/// A header that ships inside the library, as the build embedded it.
struct BuiltinHeader {
  std::string_view name;  ///< what it is included by: "kiln/vector.cuh"
  std::string_view text;
};

/// A template that ships inside the library.
struct BuiltinTemplate {
  std::string_view name;  ///< "permute_direct"
  std::string_view text;
  /// All that find_headers finds for it, as numbers of builtin_headers(), in order: a process that asks for one kernel
  /// would spend more on looking for them than on anything else but opening the cache.
  std::span<const std::size_t> headers;
};

/// Sorted by name. Defined in the file the build generates from templates/files.cmake.
std::span<const BuiltinTemplate> builtin_templates() noexcept;
std::span<const BuiltinHeader> builtin_headers() noexcept;

/// nullptr, or nothing, where there is none of that name.
const BuiltinTemplate* builtin_template(std::string_view name) noexcept;
std::optional<std::string_view> builtin_header(std::string_view name) noexcept;

}  // namespace kiln::jit
