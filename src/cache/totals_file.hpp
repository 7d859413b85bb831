#pragma once

#include <filesystem>

#include "kiln/stats.hpp"

/// Counters that outlive a process, in a small text file beside the database. Not in the database: a process that only
/// finds would have to write to it, and that costs some ten milliseconds and keeps others from reading the main file
/// without locks; and what a damaged or full database costs could not be counted in it.
namespace kiln::cache {

/// The name of the file in the cache directory.
inline constexpr char k_totals_name[] = "kiln.stats";

/// Sums and differences, counter by counter. `less` is nowhere greater than `more`.
Totals sum(const Totals& a, const Totals& b) noexcept;
Totals difference(const Totals& more, const Totals& less) noexcept;

/// One line a counter: its name and 20 digits, so that an update replaces text of the same length.
std::string to_text(const Totals& totals);
/// What is missing or malformed is 0, and what is unknown is passed over: a damaged file starts over.
Totals to_totals(std::string_view text);

/// All zero where there is no such file, or it cannot be read. Waits for a writer for a few milliseconds at most.
Totals read_totals(const std::filesystem::path& file) noexcept;
/// Adds `more` to what the file holds; makes the file (mode 0600), but no folder. Only a regular file that the caller
/// owns and nobody else can write is touched. False when it was not written: not permitted, no space, held by others
/// for some milliseconds.
bool add_totals(const std::filesystem::path& file, const Totals& more) noexcept;

}  // namespace kiln::cache
