#pragma once

#include <filesystem>

#include "cache/store.hpp"
#include "cache/user_layer.hpp"
#include "kiln/maintenance.hpp"

namespace kiln::cache {

/// Writes the sound rows of `from` to a pack at `file`, in order; the others, and what keeps rows from being read, are
/// listed in the result. Throws StoreError when the pack cannot be written, and SqliteError when rows cannot be read
/// though nothing is wrong with them; then there is no pack.
TransferResult write_sound_rows(Store& from, const std::filesystem::path& file);

/// Throws StoreError when the pack cannot be opened.
void require_importable(const std::filesystem::path& file);

/// Puts the sound rows of a pack into the user cache, unless it has them. Throws StoreError when the pack cannot be
/// opened or the cache cannot be written.
TransferResult read_sound_rows(const std::filesystem::path& file, UserLayer& into);

}  // namespace kiln::cache
