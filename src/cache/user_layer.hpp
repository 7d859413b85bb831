#pragma once

#include <chrono>
#include <memory>
#include <unordered_map>

#include "cache/backoff.hpp"
#include "cache/connection.hpp"
#include "cache/fork_guard.hpp"
#include "cache/layer.hpp"
#include "cache/tunings.hpp"
#include "kiln/service_options.hpp"

namespace kiln::cache {

struct LibraryStamp;

/// The name of the user database in the cache directory.
inline constexpr char k_database_name[] = "kiln.db";

/// The layer that is written. It repairs itself: a database that is damaged is moved aside and made anew, one that was
/// replaced or deleted under the running process is noticed and opened again.
///
/// Look-ups first glance at the main file without locks (a snapshot): every row is verified end to end, so whatever is
/// found there is right, and a process that only hits opens nothing for writing. What a glance misses is looked for
/// again through a connection that takes part in SQLite's locking.
class UserLayer final : public Layer {
 public:
  /// Touches nothing on disk. `options.cache_dir` must be there.
  explicit UserLayer(const ServiceOptions& options);
  ~UserLayer() override;

  Found find(const Digest& key) override;
  std::optional<Row> find(const Digest& key, std::int64_t compiler) override;
  bool contains(const Digest& key) override;
  bool look_closer() override;
  PackPolicy policy() override { return PackPolicy::same; }
  bool is_pack() const noexcept override { return false; }
  std::string name() const override { return "user"; }
  void hit(const Row& row) override;
  void damaged(const Row& row) override;
  bool query(const Query& query, const std::function<bool(const Entry&)>& visit) override;
  void visit_prefix(std::string_view prefix, const std::function<bool(const Row&)>& visit) override;
  LayerStats stats() override;

  /// False when the row could not be written.
  bool put(const Row& row);
  /// The row of an artifact, unless it has been replaced by another.
  void drop(const Artifact& artifact);
  std::optional<std::int64_t> compiler_of(const LibraryStamp& stamp);
  /// False when it could not be written, or there is no cache so far.
  bool set_compiler(const LibraryStamp& stamp, std::int64_t compiler);
  std::optional<double> recent_compile_ms(std::string_view template_name);
  std::optional<std::string> tuning_of(const Tuning& tuning);
  /// False when it could not be written, or there is no cache so far.
  bool set_tuning(const Tuning& tuning, std::string_view strategy);
  /// Where nothing can be written to the database, as on a full disk, it is deleted. Throws StoreError.
  std::uint64_t clear();

 private:
  /// How close a look has to be.
  enum class Need {
    glance,  ///< a snapshot will do
    read,    ///< everything that is committed
    change,  ///< what is there is written
    write,   ///< the same, and the database is made if it is not there
  };
  static bool writes(Need need) noexcept { return need == Need::change || need == Need::write; }

  template <typename Use>
  bool attempt(Need need, Use use);
  Store* open(Need need);
  Store* open_trusted(const std::filesystem::path& file, Need need);
  bool open_snapshot(const std::filesystem::path& file);
  Store* open_read_only(const std::filesystem::path& file);
  Store* open_locked(const std::filesystem::path& file, Need need);
  void make_tables(Database& database);
  bool recover(const SqliteError& error, Need need, bool was_open);
  void held(const SqliteError& error, Need need, bool was_open);
  void succeeded(Need need) noexcept;
  std::chrono::milliseconds patience(Need need) const noexcept;
  void set_aside(const std::string& why);
  void close() noexcept;
  bool was_replaced() const noexcept;
  void degrade(const std::string& why, std::chrono::milliseconds left_out = k_left_out);
  void write_touched(Store& store);
  void write_touched_on_close() noexcept;
  void evict(Store& store);
  void require_usable();
  std::optional<std::uint64_t> remove_database();
  std::unique_ptr<Connection> open_for_query();

  const std::filesystem::path directory_;
  const std::filesystem::path file_;
  const bool read_only_;
  const std::uint64_t max_bytes_;
  const std::chrono::milliseconds busy_wait_;
  const LogCallback log_;

  std::mutex mutex_;
  Health health_;
  bool storage_failed_ = false;  ///< by what went wrong last: the disk is full, say
  std::unique_ptr<Connection> connection_;
  bool glance_ = true;                                      ///< snapshots are worth a try
  std::unordered_map<std::int64_t, std::int64_t> touched_;  ///< row, and when
  bool evicting_ = false;  ///< a fuller cache than the goal is being brought down to it
  Backoff read_backoff_;
  Backoff write_backoff_;
  ForkGuard fork_guard_;
};

}  // namespace kiln::cache
