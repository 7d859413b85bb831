#pragma once

#include <cstdint>
#include <string>

#include "cache/filesystem.hpp"
#include "cache/pack_policy.hpp"
#include "cache/sqlite.hpp"

/// The tables of a database, and how to tell ours from others. docs/cache-format.md describes them for people.
namespace kiln::cache {

/// Raised when the tables or the meaning of a column change.
inline constexpr int k_format_version = 1;
/// The oldest version whose code may read and write databases of `k_format_version`. Raised when such code would
/// misread or damage them.
inline constexpr int k_lowest_compatible_version = 1;
/// In the file's header (PRAGMA application_id): "Kiln".
inline constexpr std::uint32_t k_application_id = 0x4B696C6E;

/// Whose database a file is.
struct FileHeader {
  enum class Kind {
    ours,
    empty,      ///< made, but without tables so far
    foreign,    ///< not a database, or another program's
    truncated,  ///< shorter than its header says
    newer,      ///< of a format that this version must not touch
    older,      ///< of a format that this version does not read
  };
  Kind kind = Kind::foreign;
  int format = 0;
  std::string trouble;  ///< unless ours or empty: what is wrong, and the remedy; without the path
};

/// From the first 100 bytes of an immutable connection's file. Costs one read; no table is looked at, but for a newer
/// format. What is still in a write-ahead log is not seen. Throws SqliteError.
FileHeader header_of_file(Database& database);
/// As the connection sees it, the log included.
FileHeader header_of(Database& database);

/// Makes the tables in an empty database. Safe when several processes do it at once.
void create_user_schema(Database& database, JournalMode journal);
void create_pack_schema(Database& database, PackPolicy policy);

/// What `meta` says of a pack. Throws SqliteError{content} unless it is one.
PackPolicy read_pack_policy(Database& database);

}  // namespace kiln::cache
