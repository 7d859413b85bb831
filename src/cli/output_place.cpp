#include "cli/output_place.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "kiln/file_trouble.hpp"
#include "kiln/own_file.hpp"

namespace kiln::cli {

namespace {

/// What SQLite keeps beside a database, and Kiln beside a pack that it makes.
constexpr std::array<std::string_view, 5> k_suffixes{"-wal", "-shm", "-journal", ".new", ".partial"};

/// The file beside which one of this name is kept: kiln.db for kiln.db-wal.
std::optional<std::filesystem::path> owner_of(const std::filesystem::path& file) {
  const std::string name = file.string();
  for (const std::string_view suffix : k_suffixes) {
    if (name.ends_with(suffix)) {
      return name.substr(0, name.size() - suffix.size());
    }
  }
  return std::nullopt;
}

}  // namespace

void refuse_output(const std::filesystem::path& output, const std::string& what) {
  throw UsageError(quote_path(output) + " is " + what + ": name another file");
}

void require_no_header(const std::filesystem::path& output, std::span<const std::filesystem::path> places) {
  if (std::ranges::any_of(places, [&](const std::filesystem::path& place) { return is_same_file(output, place); })) {
    refuse_output(output, "where a header of the template is looked for");
  }
}

void require_free_place(const std::filesystem::path& output, const ServiceOptions& options) {
  const std::filesystem::path file = through_links(output);
  const std::optional<std::filesystem::path> owner = owner_of(file);
  ServiceOptions of_folder;
  of_folder.cache_dir = file.parent_path();
  for (const ServiceOptions& users : {options, of_folder}) {
    for (const auto& [path, what] : own_files(users)) {
      if (is_same_file(file, path)) {
        refuse_output(output, what);
      }
      if (owner && is_same_file(*owner, path)) {
        refuse_output(output, "kept beside " + quote_path(path) + ", which is " + what);
      }
    }
  }
  if (owner && is_database(*owner)) {
    throw std::runtime_error(quote_path(output) + " is kept beside the database " + quote_path(*owner) +
                             ": name another file");
  }
}

}  // namespace kiln::cli
