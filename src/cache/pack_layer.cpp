#include "cache/pack_layer.hpp"

#include <unistd.h>

#include "cache/trust.hpp"
#include "kiln/error.hpp"

namespace kiln::cache {

OpenPack open_pack(const std::filesystem::path& file, std::string_view remedy) {
  const std::string then = "; " + std::string(remedy);
  Trust trust = trust_database(file, Owner::root_or_caller, ::geteuid());
  if (trust.verdict == Trust::Verdict::absent) {
    throw StoreError(file.string(), "there is no such pack" + then);
  }
  if (!trust.trusted()) {
    throw StoreError(file.string(), "the pack is not used: " + trust.reason);
  }
  try {
    OpenPack pack{Connection::snapshot(trust.path)};
    Database& database = pack.connection->store().database();
    FileHeader header = header_of_file(database);
    if (header.kind == FileHeader::Kind::empty) {
      throw StoreError(file.string(), "is not a pack: it is empty" + then);
    }
    if (header.kind != FileHeader::Kind::ours) {
      throw StoreError(file.string(), "is not a usable pack: it " + header.trouble + then);
    }
    pack.policy = read_pack_policy(database);
    return pack;
  } catch (const SqliteError& error) {
    throw StoreError(file.string(), std::string("is not a usable pack: ") + error.what() + then);
  }
}

PackLayer::PackLayer(std::filesystem::path file, LogCallback log)
    : file_(std::move(file)),
      log_(std::move(log)),
      fork_guard_(
          [this] {
            mutex_.lock();
            connection_.reset();
          },
          [this] { mutex_.unlock(); }) {}

Store* PackLayer::open() {
  const auto now = Health::Clock::now();
  if (!health_.usable(now)) {
    return nullptr;
  }
  if (connection_ == nullptr) {
    OpenPack pack = open_pack(file_);
    connection_ = std::move(pack.connection);
    connection_->keep_from_forks();
    policy_ = pack.policy;
    health_.recovered();
    opened(now);
  }
  return &connection_->store();
}

void PackLayer::degrade(std::string trouble) {
  ++counters_.degraded;
  health_.degrade(std::move(trouble), Health::Clock::now());
}

/// Runs `use` on the open pack. False, and the pack is left out, when that fails.
template <typename Use>
bool PackLayer::attempt(Use use) {
  try {
    Store* store = open();
    if (store == nullptr) {
      return false;
    }
    use(*store);
    return true;
  } catch (const StoreError& error) {
    degrade(error.what());
  } catch (const std::exception& error) {
    degrade(file_.string() + ": " + error.what());
  }
  connection_.reset();
  return false;
}

Found PackLayer::find(const Digest& key) {
  Session session(mutex_, health_, log_);
  Found found;
  if (!attempt([&](Store& store) { found = store.find(key); })) {
    return {};
  }
  return found;
}

std::optional<Row> PackLayer::find(const Digest& key, std::int64_t compiler) {
  Session session(mutex_, health_, log_);
  std::optional<Row> row;
  attempt([&](Store& store) { row = store.find(key, compiler); });
  return row;
}

bool PackLayer::contains(const Digest& key) {
  Session session(mutex_, health_, log_);
  bool contains = false;
  attempt([&](Store& store) { contains = store.contains(key); });
  return contains;
}

PackPolicy PackLayer::policy() {
  std::lock_guard lock(mutex_);
  return policy_;
}

void PackLayer::hit(const Row&) { ++counters_.hits; }

void PackLayer::damaged(const Row& row) {
  Session session(mutex_, health_, log_);
  // It cannot be dropped, so it is met again.
  if (damaged_.insert(row.id).second && counters_.corrupt_dropped++ == 0) {
    health_.note("pack " + file_.string() + ": the row of template " + row.template_name +
                 " is damaged and not used; make the pack anew with `kiln precompile`");
  }
}

bool PackLayer::query(const Query& query, const std::function<bool(const Entry&)>& visit) {
  // A connection of its own: `visit` may take its time, and call Kiln.
  OpenPack pack = open_pack(file_);
  try {
    return pack.connection->store().query(query, [&](const Entry& entry) {
      Entry named = entry;
      named.layer = name();
      return visit(named);
    });
  } catch (const SqliteError& error) {
    throw StoreError(file_.string(), error.what());
  }
}

void PackLayer::visit_prefix(std::string_view prefix, const std::function<bool(const Row&)>& visit) {
  OpenPack pack = open_pack(file_);
  try {
    pack.connection->store().visit_prefix(prefix, visit);
  } catch (const SqliteError& error) {
    throw StoreError(file_.string(), error.what());
  }
}

LayerStats PackLayer::stats() {
  Session session(mutex_, health_, log_);
  LayerStats stats;
  stats.name = name();
  stats.path = file_;
  attempt([&](Store& store) {
    stats.entries = store.count();
    stats.bytes = store.database().file_bytes();
    stats.journal = "immutable";
  });
  stats.hits = counters_.hits;
  fill_costs(stats);
  stats.degraded = health_.degraded();
  stats.trouble = health_.trouble();
  return stats;
}

}  // namespace kiln::cache
