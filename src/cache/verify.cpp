#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "cache/file_identity.hpp"
#include "cache/pack_layer.hpp"
#include "cache/quarantine.hpp"
#include "cache/totals_file.hpp"
#include "cache/transfer.hpp"
#include "cache/user_database.hpp"
#include "cache/user_layer.hpp"
#include "kiln/error.hpp"
#include "kiln/maintenance.hpp"

namespace kiln {

namespace {

using namespace cache;  // NOLINT(google-build-using-namespace): this is the cache's public face

constexpr std::string_view k_integrity = "PRAGMA integrity_check(20)";
constexpr char k_user[] = "user";

/// One layer while it is looked at.
struct Inspection {
  std::string layer;
  std::filesystem::path path;
  VerifyResult& result;

  void found(std::optional<Key> key, std::string problem, bool repaired = false) const {
    result.damage.push_back({layer, path, key, std::move(problem), repaired});
  }
};

/// Empty when the database is whole as far as SQLite can tell.
std::string integrity_problem(Store& store) {
  std::string problem;
  Statement check = store.database().prepare(k_integrity);
  while (check.step()) {
    const std::string line(check.text(0));
    if (line != "ok") {
      problem += (problem.empty() ? "" : "; ") + line;
    }
  }
  return problem;
}

/// Notes bad rows; returns them.
std::vector<RowKey> inspect_rows(Store& store, const Inspection& inspection, bool repaired) {
  std::vector<RowKey> bad;
  inspection.result.checked += visit_checked(store, [&](const RowKey& key, const Row*, const CheckedRow& checked) {
    if (!checked.artifact) {
      bad.push_back(key);
      inspection.found(to_key(key.key), checked.problem, repaired);
    }
  });
  return bad;
}

void drop_rows(Store& store, const std::vector<RowKey>& rows) {
  Transaction transaction(store.database());
  for (const RowKey& row : rows) {
    store.drop(row.key, row.compiler);
  }
  transaction.commit();
}

/// What is wrong with the database as a whole, or nothing: then bad rows were noted and, to repair it, dropped.
std::string inspect_database(Store& store, const Inspection& inspection, bool repair) {
  try {
    auto problem = integrity_problem(store);
    if (!problem.empty()) {
      return "it is damaged: " + problem;
    }
    const auto bad = inspect_rows(store, inspection, repair);
    if (repair && !bad.empty()) {
      drop_rows(store, bad);
    }
    return {};
  } catch (const SqliteError& error) {
    if (error.fault() != SqliteFault::content) {
      throw;
    }
    return std::string("it is damaged: ") + error.what();
  }
}

void inspect_pack(const std::filesystem::path& file, VerifyResult& result) {
  const Inspection inspection{file.filename().string(), file, result};
  try {
    const OpenPack pack = open_pack(file);
    auto problem = inspect_database(pack.connection->store(), inspection, false);
    if (!problem.empty()) {
      inspection.found(std::nullopt, std::move(problem));
    }
  } catch (const std::exception& error) {
    inspection.found(std::nullopt, error.what());
  }
}

/// Where no earlier repair, that failed, has left what it could read.
std::filesystem::path free_place_for_rescued(const std::filesystem::path& file) {
  auto place = beside(file, ".rescued");
  for (int number = 2; state_of(place); ++number) {
    place = beside(file, (".rescued-" + std::to_string(number)).c_str());
  }
  return place;
}

/// Puts the rows that can still be read into a new database; the damaged one is kept aside. Returns how many.
std::uint64_t rebuild(const ServiceOptions& options, std::unique_ptr<Connection> damaged) {
  const auto file = user_database_file(options);
  const auto rescued = free_place_for_rescued(file);
  const FileIdentity identity = damaged->identity();
  write_sound_rows(damaged->store(), rescued);
  damaged.reset();
  {
    const DirectoryLock lock(*options.cache_dir, options.busy_wait);
    if (!move_aside(file, identity)) {
      throw StoreError(file.string(), "it cannot be moved aside; check the permissions of the directory");
    }
  }
  try {
    UserLayer layer(options);
    const auto entries = read_sound_rows(rescued, layer).entries;
    std::error_code error;
    std::filesystem::remove(rescued, error);
    return entries;
  } catch (const StoreError& error) {
    throw StoreError(file.string(), "it was moved aside, and its entries could not be put into a new one: " +
                                        std::string(error.what()) + "; they are kept: run `kiln import '" +
                                        rescued.string() + "'`");
  }
}

/// A database that SQLite cannot even open.
bool move_aside_whole(const ServiceOptions& options) {
  const auto file = user_database_file(options);
  const DirectoryLock lock(*options.cache_dir, options.busy_wait);
  const auto state = state_of(file);
  return !state || move_aside(file, state->identity);
}

void count_repaired(const Inspection& inspection) {
  const auto repaired = std::ranges::count_if(inspection.result.damage, [&](const Damage& damage) {
    return damage.repaired && damage.path == inspection.path;
  });
  if (repaired > 0) {
    add_totals(inspection.path.parent_path() / k_totals_name,
               {.corrupt_dropped = static_cast<std::uint64_t>(repaired)});
  }
}

void inspect_user(const ServiceOptions& options, bool repair, VerifyResult& result) {
  const Inspection inspection{k_user, user_database_file(options), result};
  try {
    auto connection = open_user_database(options, repair ? Purpose::change : Purpose::look);
    auto problem = connection == nullptr ? std::string() : inspect_database(connection->store(), inspection, repair);
    if (!problem.empty() && repair) {
      const auto entries = rebuild(options, std::move(connection));
      problem += "; it was moved aside, and " + std::to_string(entries) + " entries were taken over into a new one";
    }
    if (!problem.empty()) {
      inspection.found(std::nullopt, std::move(problem), repair);
    }
  } catch (const SqliteError& error) {
    if (error.fault() != SqliteFault::content) {
      throw StoreError(inspection.path.string(), std::string("it cannot be looked at now: ") + error.what());
    }
    inspection.found(std::nullopt, error.what(), repair && move_aside_whole(options));
  }
  count_repaired(inspection);
}

}  // namespace

VerifyResult verify(const ServiceOptions& options, bool repair) {
  VerifyResult result;
  for (const auto& pack : options.packs) {
    inspect_pack(pack, result);
  }
  if (options.packs.empty() || has_user_database(options)) {
    inspect_user(options, repair, result);
  }
  return result;
}

}  // namespace kiln
