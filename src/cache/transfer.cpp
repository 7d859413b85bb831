#include "cache/transfer.hpp"

#include <string>
#include <system_error>
#include <utility>

#include "cache/pack_file.hpp"
#include "cache/pack_layer.hpp"
#include "cache/user_database.hpp"
#include "kiln/error.hpp"
#include "support/wall_clock.hpp"

namespace kiln::cache {

namespace {

/// Visits what can be read; where the database is damaged on the way, that is one more damage. Throws SqliteError when
/// it could not be read for another reason: rows that are merely out of reach now must not be taken for lost.
void visit_sound(Store& from, const std::string& layer, const std::filesystem::path& path, TransferResult& result,
                 const std::function<void(const Row&, const Artifact&)>& visit) {
  try {
    visit_checked(from, [&](const RowKey& key, const Row* row, const CheckedRow& checked) {
      if (checked.artifact) {
        visit(*row, *checked.artifact);
      } else {
        result.damage.push_back({layer, path, to_key(key.key), checked.problem, false});
      }
    });
  } catch (const SqliteError& error) {
    if (error.fault() != SqliteFault::content) {
      throw;
    }
    result.damage.push_back({layer, path, std::nullopt, std::string("it is damaged: ") + error.what(), false});
  }
}

OpenPack open_import(const std::filesystem::path& file) {
  return open_pack(file, "name a file that `kiln export` or `kiln precompile` wrote");
}

bool has_sound(UserLayer& layer, const Row& row) {
  const auto found = layer.find(row.key, row.compiler);
  if (found || !layer.look_closer()) {
    return found && to_artifact(*found);
  }
  const auto closer = layer.find(row.key, row.compiler);
  return closer && to_artifact(*closer);
}

/// Made anew from the artifact: nothing but what was checked gets into the cache.
void put_anew(UserLayer& into, const Artifact& artifact) {
  const auto row = to_row(artifact, support::seconds_since_epoch());
  if (row && into.put(*row)) {
    return;
  }
  const LayerStats cache = into.stats();
  const std::string name = "cache " + cache.path.string() + ": ";
  const std::string why = cache.trouble.starts_with(name) ? cache.trouble.substr(name.size()) : cache.trouble;
  throw StoreError(cache.path.string(), cache.degraded ? "the cache cannot be written: " + why
                                                       : "another process holds the cache; try again");
}

}  // namespace

TransferResult write_sound_rows(Store& from, const std::filesystem::path& file) {
  TransferResult result;
  PackFile pack(file, PackPolicy::same);
  visit_sound(from, "user", file, result, [&](const Row& row, const Artifact&) {
    pack.add(row);
    ++result.entries;
  });
  pack.finish();
  return result;
}

void require_importable(const std::filesystem::path& file) { open_import(file); }

TransferResult read_sound_rows(const std::filesystem::path& file, UserLayer& into) {
  TransferResult result;
  const OpenPack pack = open_import(file);
  const auto put = [&](const Row& row, const Artifact& artifact) {
    if (has_sound(into, row)) {
      ++result.present;
      return;
    }
    put_anew(into, artifact);
    ++result.entries;
  };
  try {
    visit_sound(pack.connection->store(), file.filename().string(), file, result, put);
  } catch (const SqliteError& error) {
    throw StoreError(file.string(), std::string("it cannot be read: ") + error.what());
  }
  return result;
}

}  // namespace kiln::cache

namespace kiln {

namespace {

/// An export replaces an earlier one and nothing else: not a device, not a file of someone's that is no pack.
void require_replaceable(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    return;
  }
  if (status.type() != std::filesystem::file_type::regular) {
    throw StoreError(file.string(), "it is there and is not a regular file: name a file to be made, or a pack");
  }
  cache::open_pack(file, "it is not replaced: name another file");
}

}  // namespace

TransferResult export_cache(const ServiceOptions& options, const std::filesystem::path& file) {
  const auto database = cache::user_database_file(options);
  try {
    const auto connection = cache::open_user_database(options, cache::Purpose::look);
    if (connection == nullptr) {
      // Not an empty one: it would take the place of a good export when the folder was mistyped.
      throw StoreError(database.string(), "there is no cache to export: nothing was stored so far");
    }
    require_replaceable(file);
    auto result = cache::write_sound_rows(connection->store(), file);
    for (auto& damage : result.damage) {
      damage.path = database;
    }
    return result;
  } catch (const cache::SqliteError& error) {
    const bool damaged = error.fault() == cache::SqliteFault::content;
    throw StoreError(database.string(), std::string(error.what()) + (damaged ? "; try `kiln verify --repair`" : ""));
  }
}

TransferResult import_cache(const ServiceOptions& options, const std::vector<std::filesystem::path>& files) {
  const auto database = cache::user_database_file(options);
  if (options.cache_mode == CacheMode::read_only) {
    throw StoreError(database.string(), "the cache is read-only: set KILN_CACHE_MODE=rw to import into it");
  }
  // Before the first is read, so that a name that is wrong changes nothing. One at a time: there may be more files than
  // descriptors.
  for (const auto& file : files) {
    cache::require_importable(file);
  }
  cache::UserLayer layer(options);
  TransferResult total;
  for (const auto& file : files) {
    auto result = cache::read_sound_rows(file, layer);
    total.entries += result.entries;
    total.present += result.present;
    total.damage.insert(total.damage.end(), std::make_move_iterator(result.damage.begin()),
                        std::make_move_iterator(result.damage.end()));
  }
  return total;
}

}  // namespace kiln
