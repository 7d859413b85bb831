#include "cache/user_layer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cache/eviction.hpp"
#include "cache/layered_store.hpp"
#include "cache/quarantine.hpp"
#include "cache/trust.hpp"
#include "cache/wait_budget.hpp"
#include "kiln/error.hpp"
#include "support/wall_clock.hpp"

namespace kiln::cache {

namespace {

constexpr std::size_t k_max_touched = 4096;
/// `last_used` is not worth waiting for when a process ends.
constexpr std::chrono::milliseconds k_closing_wait{20};

constexpr char k_journal_mode[] = "PRAGMA journal_mode";

/// As its trouble begins.
std::string name_of(const std::filesystem::path& file) { return "cache " + file.string() + ": "; }

}  // namespace

UserLayer::UserLayer(const ServiceOptions& options)
    : directory_(*options.cache_dir),
      file_(directory_ / k_database_name),
      read_only_(options.cache_mode == CacheMode::read_only),
      max_bytes_(options.max_bytes),
      busy_wait_(std::clamp(options.busy_wait, std::chrono::milliseconds(0), k_longest_wait)),
      log_(options.log),
      fork_guard_(
          [this] {
            mutex_.lock();
            close();
          },
          [this] { mutex_.unlock(); }) {}

UserLayer::~UserLayer() {
  Session session(mutex_, health_, log_);
  if (!touched_.empty() && !read_only_ && !health_.degraded()) {
    write_touched_on_close();
  }
  close();
}

/// Best effort: what does not get there is not worth a line.
void UserLayer::write_touched_on_close() noexcept try {
  const bool written = attempt(Need::change, [&](Store& store) {
    store.database().set_busy_wait(k_closing_wait);
    Transaction transaction(store.database());
    write_touched(store);
    transaction.commit();
  });
  if (!written) {
    health_.take_messages();
  }
} catch (const std::exception&) {  // short of memory
}

/// Runs `use` on the open store; what goes wrong becomes the layer's state. False when there is no store, or it failed.
/// After a failure that opening the database again can cure, it is tried once more.
template <typename Use>
bool UserLayer::attempt(Need need, Use use) {
  const WaitBudget budget(patience(need));
  try {
    for (int tries = 0; tries < 3; ++tries) {
      Store* store = nullptr;
      try {
        store = open(need);
        if (store == nullptr) {
          return false;
        }
        use(*store);
        storage_failed_ = false;
        succeeded(need);
        return true;
      } catch (const SqliteError& error) {
        storage_failed_ = error.fault() == SqliteFault::input_output;
        if (tries == 2) {
          degrade(error.what());
        } else if (!recover(error, need, store != nullptr)) {
          return false;
        }
      }
    }
  } catch (const std::exception& error) {
    degrade(error.what());
  }
  return false;
}

Found UserLayer::find(const Digest& key) {
  Session session(mutex_, health_, log_);
  Found found;
  if (!attempt(Need::glance, [&](Store& store) { found = store.find(key); })) {
    return {};
  }
  return found;
}

std::optional<Row> UserLayer::find(const Digest& key, std::int64_t compiler) {
  Session session(mutex_, health_, log_);
  std::optional<Row> row;
  attempt(Need::glance, [&](Store& store) { row = store.find(key, compiler); });
  return row;
}

bool UserLayer::contains(const Digest& key) {
  Session session(mutex_, health_, log_);
  bool contains = false;
  attempt(Need::glance, [&](Store& store) { contains = store.contains(key); });
  bool looked_at_all = connection_ == nullptr || !connection_->is_snapshot();
  if (!contains && !looked_at_all) {
    attempt(Need::read, [&](Store& store) { contains = store.contains(key); });
  }
  return contains;
}

bool UserLayer::look_closer() {
  Session session(mutex_, health_, log_);
  if (connection_ == nullptr) {
    return false;
  }
  if (connection_->is_snapshot()) {
    return !read_only_ && attempt(Need::read, [](Store&) {});
  }
  return was_replaced() && attempt(Need::read, [](Store&) {});
}

void UserLayer::hit(const Row& row) {
  std::lock_guard lock(mutex_);
  ++counters_.hits;
  std::int64_t now = support::seconds_since_epoch();
  if (!read_only_ && touched_.size() < k_max_touched && should_touch(row.last_used, now)) {
    touched_.insert_or_assign(row.id, now);
  }
}

void UserLayer::damaged(const Row& row) {
  Session session(mutex_, health_, log_);
  ++counters_.corrupt_dropped;
  const bool dropped = !read_only_ && attempt(Need::change, [&](Store& store) { store.drop(row.id); });
  health_.note("cache " + file_.string() + ": the row of template " + row.template_name + " is damaged" +
               (dropped ? " and dropped" : "") + "; it is compiled again");
}

void UserLayer::drop(const Artifact& artifact) {
  Session session(mutex_, health_, log_);
  std::optional<std::int64_t> compiler = to_column(artifact.compiler);
  if (!read_only_ && compiler) {
    attempt(Need::change, [&](Store& store) {
      if (store.drop(to_digest(artifact.key), *compiler, artifact.created, artifact.compile_ms)) {
        ++counters_.corrupt_dropped;
      }
    });
  }
}

bool UserLayer::put(const Row& row) {
  Session session(mutex_, health_, log_);
  bool full = false;
  bool written = attempt(Need::write, [&](Store& store) {
    Transaction transaction(store.database());
    store.put(row);
    write_touched(store);
    full = max_bytes_ > 0 && (evicting_ || store.used_bytes() > max_bytes_);
    transaction.commit();
    touched_.clear();
  });
  if (full) {
    attempt(Need::change, [this](Store& store) { evict(store); });
  }
  return written;
}

void UserLayer::write_touched(Store& store) {
  for (const auto& [row, when] : touched_) {
    store.touch(row, when);
  }
}

/// Least recently used first. What is left to do, the next puts do. Within the cap, the space is kept for them:
/// giving it back moves pages, which takes longer than all the rest.
void UserLayer::evict(Store& store) {
  Transaction transaction(store.database());
  store.bring_back(support::seconds_since_epoch());
  std::uint64_t left = store.used_bytes();
  std::vector<std::int64_t> leaving;
  store.visit_least_recent([&](const EvictionCandidate& candidate) {
    if (!evict_more(left, max_bytes_, leaving.size())) {
      return false;
    }
    leaving.push_back(candidate.id);
    left -= std::min(left, candidate.bytes);
    return true;
  });
  for (std::int64_t id : leaving) {
    store.drop(id);
  }
  transaction.commit();
  counters_.evicted += leaving.size();
  evicting_ = !leaving.empty() && evict_more(store.used_bytes(), max_bytes_, 0);
  if (store.file_bytes() > max_bytes_) {
    store.return_space();
  }
}

std::optional<std::int64_t> UserLayer::compiler_of(const LibraryStamp& stamp) {
  Session session(mutex_, health_, log_);
  std::optional<std::int64_t> compiler;
  attempt(Need::glance, [&](Store& store) { compiler = store.compiler_of(stamp); });
  if (!compiler && connection_ != nullptr && connection_->is_snapshot() && !read_only_) {
    attempt(Need::read, [&](Store& store) { compiler = store.compiler_of(stamp); });
  }
  return compiler;
}

bool UserLayer::set_compiler(const LibraryStamp& stamp, std::int64_t compiler) {
  Session session(mutex_, health_, log_);
  // Not worth making a cache for: there may be packs that hold everything.
  return !read_only_ && attempt(Need::change, [&](Store& store) { store.set_compiler(stamp, compiler); });
}

std::optional<double> UserLayer::recent_compile_ms(std::string_view template_name) {
  Session session(mutex_, health_, log_);
  std::optional<double> compile_ms;
  attempt(Need::read, [&](Store& store) { compile_ms = store.recent_compile_ms(template_name); });
  return compile_ms;
}

std::optional<std::string> UserLayer::tuning_of(const Tuning& tuning) {
  Session session(mutex_, health_, log_);
  std::optional<std::string> strategy;
  const auto find = [&](Store& store) { strategy = Tunings(store.database()).find(tuning); };
  attempt(Need::glance, find);
  if (!strategy && connection_ != nullptr && connection_->is_snapshot() && !read_only_) {
    attempt(Need::read, find);
  }
  return strategy;
}

bool UserLayer::set_tuning(const Tuning& tuning, std::string_view strategy) {
  Session session(mutex_, health_, log_);
  bool kept = false;
  // As for a compiler, no cache is made for that alone.
  return !read_only_ && attempt(Need::change, [&](Store& store) {
    Transaction transaction(store.database());
    kept = Tunings(store.database()).put(tuning, strategy, support::seconds_since_epoch());
    transaction.commit();
  }) && kept;
}

void UserLayer::require_usable() {
  if (health_.degraded()) {
    health_.leave_to_caller();
    const std::string name = name_of(file_);
    const std::string& trouble = health_.trouble();
    throw StoreError(file_.string(), trouble.starts_with(name) ? trouble.substr(name.size()) : trouble);
  }
}

/// Needs no space. Other processes notice that it is gone. Nothing when it is not ours, or cannot be deleted; else how
/// many rows were in it, as far as can be seen.
std::optional<std::uint64_t> UserLayer::remove_database() try {
  close();
  const DirectoryLock lock(directory_, busy_wait_);
  const Trust trust = trust_database(file_, Owner::caller, ::geteuid());
  if (!trust.trusted()) {
    return std::nullopt;
  }
  std::uint64_t rows = 0;
  {
    const auto snapshot = Connection::snapshot(trust.path);
    if (header_of_file(snapshot->store().database()).kind != FileHeader::Kind::ours) {
      return std::nullopt;
    }
    rows = snapshot->store().count();
  }
  // A log that is left without its database would be taken for the next one's.
  for (const char* suffix : {"-wal", "-shm", "-journal", ""}) {
    if (::unlink(beside(trust.path, suffix).c_str()) != 0 && errno != ENOENT) {
      return std::nullopt;
    }
  }
  health_.recovered();
  health_.leave_to_caller();
  return rows;
} catch (const std::exception&) {
  return std::nullopt;  // what went wrong first is told
}

std::uint64_t UserLayer::clear() {
  Session session(mutex_, health_, log_);
  if (read_only_) {
    throw StoreError(file_.string(), "the cache is read-only: set KILN_CACHE_MODE=rw to clear it");
  }
  std::uint64_t cleared = 0;
  write_backoff_.reset();
  const bool done = attempt(Need::change, [&](Store& store) {
    cleared = store.clear();
    Tunings(store.database()).clear();
    store.return_space();
  });
  if (!done && storage_failed_) {
    if (const auto removed = remove_database()) {
      touched_.clear();
      return *removed;
    }
  }
  require_usable();
  if (!write_backoff_.over(Backoff::Clock::now())) {
    throw StoreError(file_.string(), "another process holds the cache; try again");
  }
  touched_.clear();
  return cleared;
}

/// A connection of its own, so that a long listing holds up nobody. Nothing when there is no database.
std::unique_ptr<Connection> UserLayer::open_for_query() {
  Session session(mutex_, health_, log_);
  std::unique_ptr<Connection> connection;
  bool snapshot = false;
  std::filesystem::path path = file_;
  bool there = attempt(Need::read, [&](Store&) { snapshot = connection_->is_snapshot(); });
  require_usable();
  if (!there) {
    return nullptr;
  }
  if (snapshot) {
    return Connection::snapshot(path);
  }
  return Connection::locked(path, read_only_ ? Database::Access::read_only : Database::Access::read_write, busy_wait_);
}

bool UserLayer::query(const Query& query, const std::function<bool(const Entry&)>& visit) {
  try {
    std::unique_ptr<Connection> connection = open_for_query();
    return connection == nullptr || connection->store().query(query, [&](const Entry& entry) {
      Entry named = entry;
      named.layer = name();
      return visit(named);
    });
  } catch (const SqliteError& error) {
    throw StoreError(file_.string(), error.what());
  }
}

void UserLayer::visit_prefix(std::string_view prefix, const std::function<bool(const Row&)>& visit) {
  try {
    std::unique_ptr<Connection> connection = open_for_query();
    if (connection != nullptr) {
      connection->store().visit_prefix(prefix, visit);
    }
  } catch (const SqliteError& error) {
    throw StoreError(file_.string(), error.what());
  }
}

LayerStats UserLayer::stats() {
  Session session(mutex_, health_, log_);
  LayerStats stats;
  stats.name = name();
  stats.path = file_;
  attempt(Need::read, [&](Store& store) {
    stats.entries = store.count();
    stats.bytes = store.file_bytes();
    stats.tunings = Tunings(store.database()).count();
    stats.journal = connection_->is_snapshot() ? "immutable" : store.database().text(k_journal_mode);
  });
  stats.hits = counters_.hits;
  fill_costs(stats);
  stats.degraded = health_.degraded();
  stats.trouble = health_.trouble();
  return stats;
}

}  // namespace kiln::cache
