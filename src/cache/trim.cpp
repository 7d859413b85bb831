#include <algorithm>
#include <iterator>
#include <vector>

#include "cache/eviction.hpp"
#include "cache/layer.hpp"
#include "cache/user_database.hpp"
#include "kiln/error.hpp"
#include "kiln/maintenance.hpp"
#include "support/wall_clock.hpp"

namespace kiln {

namespace {

using namespace cache;  // NOLINT(google-build-using-namespace): this is the cache's public face

constexpr char k_shorten_log[] = "PRAGMA wal_checkpoint(TRUNCATE)";

bool is_unused(const EvictionCandidate& row, const TrimOptions& trim, std::int64_t now) {
  return trim.unused_for && row.last_used <= now - std::max<std::int64_t>(0, trim.unused_for->count());
}

/// The least recently used rows that have to go.
std::vector<EvictionCandidate> choose(Store& store, const TrimOptions& trim, std::int64_t now) {
  std::uint64_t left = store.used_bytes();
  std::vector<EvictionCandidate> leaving;
  store.visit_least_recent([&](const EvictionCandidate& row) {
    if (!is_unused(row, trim, now) && (!trim.max_bytes || left <= *trim.max_bytes)) {
      return false;
    }
    leaving.push_back(row);
    left -= std::min(left, row.bytes);
    return true;
  });
  return leaving;
}

std::vector<Entry> list(Store& store, const std::vector<EvictionCandidate>& rows) {
  std::vector<Entry> entries;
  for (const auto& row : rows) {
    if (auto entry = store.entry(row.id)) {
      entry->layer = "user";
      entries.push_back(std::move(*entry));
    }
  }
  return entries;
}

/// Within one transaction, so that what is listed is what goes. Returns nothing when there was nothing to do.
std::vector<Entry> remove_batch(Store& store, const TrimOptions& trim, std::int64_t now) {
  Transaction transaction(store.database());
  const auto leaving = choose(store, trim, now);
  auto entries = list(store, leaving);
  for (const auto& row : leaving) {
    store.drop(row.id);
  }
  transaction.commit();
  return entries;
}

TrimResult remove(Store& store, const TrimOptions& trim, std::int64_t now) {
  TrimResult result;
  result.bytes_before = store.file_bytes();
  // What a row takes is known only after it is gone: a second batch makes up for what the first estimate lacked.
  for (auto batch = remove_batch(store, trim, now); !batch.empty(); batch = remove_batch(store, trim, now)) {
    std::ranges::move(batch, std::back_inserter(result.removed));
  }
  store.return_space();
  store.database().integer(k_shorten_log);
  result.bytes_after = store.file_bytes();
  return result;
}

TrimResult foretell(Store& store, const TrimOptions& trim, std::int64_t now) {
  TrimResult result;
  result.bytes_before = store.file_bytes();
  const auto leaving = choose(store, trim, now);
  result.removed = list(store, leaving);
  result.bytes_after = store.used_bytes();
  for (const auto& row : leaving) {
    result.bytes_after -= std::min(result.bytes_after, row.bytes);
  }
  return result;
}

}  // namespace

TrimResult trim(const ServiceOptions& options, const TrimOptions& trim) {
  const auto file = user_database_file(options);
  try {
    const auto connection = open_user_database(options, trim.dry_run ? Purpose::look : Purpose::change);
    if (connection == nullptr) {
      return {};
    }
    return trim.dry_run ? foretell(connection->store(), trim, support::seconds_since_epoch())
                        : remove(connection->store(), trim, support::seconds_since_epoch());
  } catch (const SqliteError& error) {
    const bool storage = error.fault() == SqliteFault::input_output;
    throw StoreError(
        file.string(),
        std::string(error.what()) + (storage ? "; to remove kernels takes some room: make some where the cache is, or "
                                               "give all of it up with `kiln clear`, which needs none"
                                             : "; if it persists, try `kiln verify --repair`"));
  }
}

}  // namespace kiln
