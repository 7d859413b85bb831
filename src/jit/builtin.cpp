#include "jit/builtin.hpp"

#include <algorithm>

namespace kiln::jit {

namespace {

std::optional<std::string_view> find(std::span<const BuiltinFile> files, std::string_view name) noexcept {
  auto found = std::find_if(files.begin(), files.end(), [&](const BuiltinFile& file) { return file.name == name; });
  return found == files.end() ? std::nullopt : std::optional(found->text);
}

}  // namespace

std::optional<std::string_view> builtin_header(std::string_view name) noexcept { return find(builtin_headers(), name); }
std::optional<std::string_view> builtin_template(std::string_view name) noexcept {
  return find(builtin_templates(), name);
}

}  // namespace kiln::jit
