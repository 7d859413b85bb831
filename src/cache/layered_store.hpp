#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/pack_policy.hpp"
#include "cache/tunings.hpp"
#include "kiln/artifact.hpp"
#include "kiln/entry.hpp"
#include "kiln/service_options.hpp"
#include "kiln/stats.hpp"

namespace kiln::cache {

/// The compiler a look-up may be served from. Absent: no compiler is installed, the newest row is taken.
using CompilerPolicy = std::optional<Compiler>;

/// A library file as the file system tells it: what decides whether a remembered identity still holds.
struct LibraryStamp {
  std::string path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  friend bool operator==(const LibraryStamp&, const LibraryStamp&) = default;
};

/// Which layers a look-up goes through.
enum class Layers {
  all,
  own,  ///< the user database alone
};

struct Hit {
  Artifact artifact;
  bool from_pack = false;
  std::string layer;
};

/// The layers of one service: packs in order, then the user database. First hit wins, only the last is written.
/// Thread-safe. Nothing here throws because of the cache's state: trouble is counted, logged once, and the layer is
/// left out. Nothing is opened before the first look-up.
class LayeredStore {
 public:
  explicit LayeredStore(const ServiceOptions& options);
  ~LayeredStore();
  LayeredStore(const LayeredStore&) = delete;
  LayeredStore& operator=(const LayeredStore&) = delete;

  /// A verified artifact whose key and spec are these, or nothing. `policy()` is called only when some layer has a
  /// row for the key whose use depends on the compiler: telling the installed compiler may mean opening it.
  std::optional<Hit> get(const Key& key, std::string_view spec, const std::function<CompilerPolicy()>& policy,
                         Layers layers = Layers::all);
  /// Is there a row for this key in any layer, whatever its compiler?
  bool contains(const Key& key);
  /// Counts what is not seen here: how a request ended.
  void count(const Totals& more) noexcept;
  /// Best effort: false, counted and logged once, when the row could not be written.
  bool put(const Artifact& artifact);
  /// Drops, and counts as damaged, a row that turned out unusable (the driver rejected it), unless it has been replaced
  /// by another since it was read. Does nothing for packs.
  void drop(const Artifact& artifact);

  /// The identity remembered for a compiler library file, when its stamp is unchanged.
  std::optional<Compiler> remembered_compiler(const LibraryStamp& stamp);
  /// False when it could not be kept; no cache is made for that alone.
  bool remember_compiler(const LibraryStamp& stamp, const Compiler& compiler);
  /// Which strategy was measured fastest.
  std::optional<std::string> remembered_tuning(const Tuning& tuning);
  /// False when it could not be kept; no cache is made for that alone.
  bool remember_tuning(const Tuning& tuning, std::string_view strategy);
  /// The longest of the template's last known compile times, to bound how long a lease is waited for. One alone says
  /// little: on a busy machine the same compile takes now 20 ms and now 3 s.
  std::optional<double> recent_compile_ms(std::string_view template_name);

  /// Packs first, then the user layer, each in the query's order. Throws StoreError.
  void query(const Query& query, const std::function<bool(const Entry&)>& visit);
  /// Every artifact whose key begins with the hex digits, newest first. Throws StoreError.
  std::vector<Artifact> find_by_prefix(std::string_view key_prefix);
  /// Removes every row of the user layer; how many. Throws StoreError.
  std::uint64_t clear();

  /// Fills in all but what was found in memory and is loaded.
  void fill(Stats& stats);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A pack being written: one database, made aside and put in place by `finish`. Not thread-safe.
class PackWriter {
 public:
  /// Continues from what an interrupted run left aside, else from `output` if it is a pack already. Throws StoreError
  /// naming `output`: it is there and no pack, another process writes it, or it cannot be written.
  explicit PackWriter(const std::filesystem::path& output, PackPolicy policy = PackPolicy::any);
  ~PackWriter();
  PackWriter(const PackWriter&) = delete;
  PackWriter& operator=(const PackWriter&) = delete;

  bool contains(const Key& key, const Compiler& compiler);
  /// Throws StoreError.
  void put(const Artifact& artifact);
  /// Makes the pack appear at `output`, whole; the same rows give the same bytes. The last call. Without it, the rows
  /// so far are kept aside, in `OUTPUT.partial`, for the next run. Without rows, none is made where none was. Throws
  /// StoreError.
  void finish();

 private:
  void drop_aside() noexcept;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kiln::cache
