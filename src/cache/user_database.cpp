#include "cache/user_database.hpp"

#include <unistd.h>

#include <utility>

#include "cache/schema.hpp"
#include "cache/trust.hpp"
#include "cache/user_layer.hpp"
#include "kiln/error.hpp"

namespace kiln::cache {

namespace {

std::unique_ptr<Connection> open_locked(const std::filesystem::path& file, Database::Access access,
                                        std::chrono::milliseconds busy_wait, FileHeader& header) {
  auto connection = Connection::locked(file, access, busy_wait);
  header = header_of(connection->store().database());
  return connection;
}

std::unique_ptr<Connection> open_snapshot(const std::filesystem::path& file, FileHeader& header) {
  auto connection = Connection::snapshot(file);
  header = header_of_file(connection->store().database());
  return connection;
}

std::unique_ptr<Connection> open_read_only(const std::filesystem::path& file, std::chrono::milliseconds busy_wait,
                                           FileHeader& header) {
  return has_live_log(file) ? open_locked(file, Database::Access::read_only, busy_wait, header)
                            : open_snapshot(file, header);
}

void visit_one(Store& store, const RowKey& key, const RowVisitor& visit) {
  std::optional<Row> row;
  try {
    row = store.find(key.key, key.compiler);
  } catch (const SqliteError& error) {
    if (error.fault() != SqliteFault::content) {
      throw;
    }
    visit(key, nullptr, {std::nullopt, std::string("it cannot be read: ") + error.what()});
    return;
  }
  if (row) {  // else it was removed meanwhile
    auto checked = check_row(*row);
    visit(key, &*row, std::move(checked));
  }
}

}  // namespace

bool has_user_database(const ServiceOptions& options) noexcept {
  return options.cache_dir && options.cache_mode != CacheMode::off;
}

bool has_live_log(const std::filesystem::path& file) {
  const std::optional<FileState> log = state_of(beside(file, "-wal"));
  return log && log->size > 0 && state_of(beside(file, "-shm"));
}

std::filesystem::path user_database_file(const ServiceOptions& options) {
  if (!has_user_database(options)) {
    throw Error(ErrorCode::invalid_argument,
                options.cache_dir ? "the cache is off: set KILN_CACHE_MODE to rw or ro"
                                  : "there is no cache directory: set KILN_CACHE_DIR or HOME, or give --cache");
  }
  return *options.cache_dir / k_database_name;
}

std::unique_ptr<Connection> open_user_database(const ServiceOptions& options, Purpose purpose) {
  const auto file = user_database_file(options);
  const bool read_only = options.cache_mode == CacheMode::read_only;
  if (read_only && purpose == Purpose::change) {
    throw StoreError(file.string(), "the cache is read-only: set KILN_CACHE_MODE=rw to change it");
  }
  const Trust trust = trust_database(file, Owner::caller, ::geteuid());
  if (trust.verdict == Trust::Verdict::absent) {
    return nullptr;
  }
  if (!trust.trusted()) {
    throw StoreError(file.string(), "the cache is not used: " + trust.reason);
  }
  FileHeader header;
  std::unique_ptr<Connection> connection;
  try {
    connection = read_only ? open_read_only(trust.path, options.busy_wait, header)
                           : open_locked(trust.path, Database::Access::read_write, options.busy_wait, header);
  } catch (const SqliteError& error) {
    if (error.fault() != SqliteFault::input_output || purpose == Purpose::change || read_only) {
      throw;
    }
    connection = open_snapshot(trust.path, header);
  }
  switch (header.kind) {
    case FileHeader::Kind::ours:
      return connection;
    case FileHeader::Kind::empty:
      return nullptr;
    case FileHeader::Kind::newer:
      throw StoreError(file.string(), header.trouble);
    case FileHeader::Kind::foreign:
    case FileHeader::Kind::truncated:
    case FileHeader::Kind::older:
      break;
  }
  throw SqliteError(SqliteFault::content, 0, header.trouble);
}

std::uint64_t visit_checked(Store& store, const RowVisitor& visit) {
  std::uint64_t count = 0;
  std::optional<RowKey> last;
  for (auto keys = store.keys_after(last); !keys.empty(); keys = store.keys_after(last)) {
    for (const RowKey& key : keys) {
      if (last && key <= *last) {
        throw SqliteError(SqliteFault::content, 0, "its rows are out of order");
      }
      last = key;
      ++count;
      visit_one(store, key, visit);
    }
  }
  return count;
}

}  // namespace kiln::cache
