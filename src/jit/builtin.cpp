#include "jit/builtin.hpp"

#include <algorithm>

namespace kiln::jit {

namespace {

template <typename File>
const File* find(std::span<const File> files, std::string_view name) noexcept {
  auto found = std::find_if(files.begin(), files.end(), [&](const File& file) { return file.name == name; });
  return found == files.end() ? nullptr : &*found;
}

}  // namespace

const BuiltinTemplate* builtin_template(std::string_view name) noexcept { return find(builtin_templates(), name); }

std::optional<std::string_view> builtin_header(std::string_view name) noexcept {
  const BuiltinHeader* header = find(builtin_headers(), name);
  return header == nullptr ? std::nullopt : std::optional(header->text);
}

}  // namespace kiln::jit
