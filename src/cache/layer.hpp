#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "cache/health.hpp"
#include "cache/schema.hpp"
#include "cache/store.hpp"
#include "kiln/log.hpp"
#include "kiln/stats.hpp"

namespace kiln::cache {

/// What a layer has counted. Read without the layer's lock, which may be held by someone who waits for a database.
struct LayerCounters {
  std::atomic<std::uint64_t> hits{0};
  std::atomic<std::uint64_t> corrupt_dropped{0};
  std::atomic<std::uint64_t> evicted{0};
  std::atomic<std::uint64_t> degraded{0};   ///< how often it was left out
  std::atomic<std::uint64_t> open_ns{0};    ///< the last opening
  std::atomic<std::uint64_t> opened_ns{0};  ///< all openings
  std::atomic<std::uint64_t> hit_ns{0};     ///< all hits, openings left out
};

/// Since when, and what had gone into openings by then.
struct Stopwatch {
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  std::uint64_t opened_ns = 0;
};

/// One database in the look-up order. Thread-safe; nothing throws because of the database's state unless it says so.
class Layer {
 public:
  virtual ~Layer() = default;

  /// The rows of a key; none if the layer cannot be used.
  virtual Found find(const Digest& key) = 0;
  virtual std::optional<Row> find(const Digest& key, std::int64_t compiler) = 0;
  virtual bool contains(const Digest& key) = 0;
  /// After a miss or a damaged row: is there a closer look to be had than the last one? Then look again.
  virtual bool look_closer() = 0;
  /// Which rows may serve whatever compiler is installed.
  virtual PackPolicy policy() = 0;
  virtual bool is_pack() const noexcept = 0;
  /// "user" or the pack's file name.
  virtual std::string name() const = 0;

  /// The row was used.
  virtual void hit(const Row& row) = 0;
  /// The row is damaged: it is counted, and dropped if the layer can be written.
  virtual void damaged(const Row& row) = 0;

  /// Throws StoreError.
  virtual bool query(const Query& query, const std::function<bool(const Entry&)>& visit) = 0;
  /// Throws StoreError.
  virtual void visit_prefix(std::string_view prefix, const std::function<bool(const Row&)>& visit) = 0;

  virtual LayerStats stats() = 0;
  const LayerCounters& counters() const noexcept { return counters_; }

  /// To measure what a hit costs: begin before the look-up, and tell when there was one.
  Stopwatch start() const noexcept { return {.opened_ns = counters_.opened_ns}; }
  void took(const Stopwatch& since) noexcept;

 protected:
  /// It was opened, beginning at `begin`.
  void opened(std::chrono::steady_clock::time_point begin) noexcept;
  void fill_costs(LayerStats& stats) const noexcept;

  LayerCounters counters_;
};

/// A lock that, once released, says what the layer's health has to say.
class Session {
 public:
  Session(std::mutex& mutex, Health& health, const LogCallback& log) : health_(health), log_(log), lock_(mutex) {}
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  Health& health_;
  const LogCallback& log_;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace kiln::cache
