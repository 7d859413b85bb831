#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kiln::jit {

/// A file's whole content; absent when it cannot be read.
std::optional<std::string> read_text_file(const std::filesystem::path& path);

}  // namespace kiln::jit
