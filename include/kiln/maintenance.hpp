#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kiln/artifact.hpp"
#include "kiln/entry.hpp"
#include "kiln/export.h"
#include "kiln/service_options.hpp"

/// Looking after a cache: what `kiln verify`, `trim`, `export` and `import` do. Each call may be made from any thread,
/// while services and other processes use the same cache. All of them act on `options.cache_dir`; without one they
/// throw Error{invalid_argument}. They need neither compiler nor driver.
namespace kiln {

/// One thing found wrong with a database.
struct Damage {
  std::string layer;  ///< "user", or the file name of a pack or import
  std::filesystem::path path;
  std::optional<Key> key;  ///< the row; absent when it is the database as a whole, or the row's key is unreadable
  std::string problem;     ///< a sentence
  bool repaired = false;   ///< the row was dropped, or the database moved aside
};

struct VerifyResult {
  std::uint64_t checked = 0;  ///< rows looked at, in all layers
  std::vector<Damage> damage;
};

/// Tells whether there is a cache to look at, so that it is known before anything is asked of it. A database that is
/// not there yet is in order: it is an empty one. Throws StoreError naming a pack or user database that is there, or is
/// named, and cannot be used, and Error{invalid_argument} when the options name no layer at all. Changes nothing.
KILN_EXPORT void require_usable(const ServiceOptions& options);

/// Looks at the user database and every pack whole: SQLite's integrity check, then each row's checksum, spec, image
/// and names. With `repair`, bad rows of the user database are dropped; a damaged database is moved aside
/// (`kiln.db.corrupt-1`) and made anew from the rows that can still be read; packs are never changed. A cache that does
/// not exist is in order, and a pack that cannot be opened is damage. Throws StoreError when the user database must not
/// or cannot be looked at: not trusted, made by a newer Kiln, busy, or read-only and to be repaired.
KILN_EXPORT VerifyResult verify(const ServiceOptions& options, bool repair = false);

struct TrimOptions {
  std::optional<std::uint64_t> max_bytes = std::nullopt;  ///< bring the database down to this; absent: no limit
  std::optional<std::chrono::seconds> unused_for =
      std::nullopt;      ///< remove what was not used for at least so long (exact to a day)
  bool dry_run = false;  ///< tell, but change nothing
};

struct TrimResult {
  std::vector<Entry> removed;      ///< or, in a dry run, what would go; least recently used first
  std::uint64_t bytes_before = 0;  ///< of the database file
  std::uint64_t bytes_after = 0;   ///< in a dry run: an estimate
};

/// Removes entries of the user cache, least recently used first, and returns the space to the file system.
/// Throws StoreError.
KILN_EXPORT TrimResult trim(const ServiceOptions& options, const TrimOptions& trim);

struct TransferResult {
  std::uint64_t entries = 0;   ///< written
  std::uint64_t present = 0;   ///< on import: skipped, because the cache had them
  std::vector<Damage> damage;  ///< rows left out because they do not verify
};

/// Writes every sound entry of the user cache to `file`, which becomes a pack: usable in KILN_PACKS, and by
/// `import_cache`. The same entries give the same bytes, whenever and wherever they are exported; when an entry was
/// last used is not exported. `file` appears whole or not at all; it may replace a pack. Throws StoreError, also when
/// something else is at `file`.
KILN_EXPORT TransferResult export_cache(const ServiceOptions& options, const std::filesystem::path& file);

/// Adds the entries of each file, an export or a pack, to the user cache. Nothing in a file is believed: a row counts
/// only if its checksum matches, its key is the hash of its spec, and its image is an ELF image or PTX. The files must
/// be owned by root or the caller. Throws StoreError naming a file that cannot be read or is not a Kiln database,
/// before anything of the others is added, or when the cache cannot be written.
KILN_EXPORT TransferResult import_cache(const ServiceOptions& options, const std::vector<std::filesystem::path>& files);

}  // namespace kiln
