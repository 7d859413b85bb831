#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "kiln/export.h"

namespace kiln {

/// More than any template, header or plan has.
inline constexpr std::uint64_t k_most_text_bytes = std::uint64_t{256} << 20;

/// The text in a regular file: its whole content, but for a UTF-8 byte order mark that it begins with. Never waits:
/// folders, pipes, devices and sockets are refused, as is a file of more than `most` bytes. `thing` is what the file is
/// to be, e.g. "plan". Throws Error{file_unreadable}: cannot read THING 'FILE': why; what to do.
KILN_EXPORT std::string read_text_file(const std::filesystem::path& file, std::string_view thing,
                                       std::uint64_t most = k_most_text_bytes);

}  // namespace kiln
