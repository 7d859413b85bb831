#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kiln {

/// One layer of the cache, as a service sees it now.
struct LayerStats {
  std::string name;  ///< "user" or the pack's file name
  std::filesystem::path path;
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;    ///< of the database file
  std::uint64_t hits = 0;     ///< by this service
  std::uint64_t tunings = 0;  ///< permutations whose fastest strategy was measured and is remembered
  double hit_us = 0.0;        ///< what one of them took on average, from look-up to verified artifact
  double open_us = 0.0;       ///< what opening it took the last time; 0 when it was not opened
  bool degraded = false;      ///< left out after an error
  std::string trouble;        ///< the error, when degraded
  std::string journal;        ///< SQLite journal mode; empty when not open
};

/// Counters of a user cache since it was made, of all services of all processes that use it to read and write. What a
/// service counts is added every ten seconds and when it ends, if that can be done at once; a process that is killed
/// takes what it counted since then with it.
struct Totals {
  std::uint64_t hits = 0;    ///< requests found in a layer, packs included; not those found in memory
  std::uint64_t misses = 0;  ///< requests found in none
  std::uint64_t compiles = 0;
  std::uint64_t compile_failures = 0;
  std::uint64_t puts = 0;
  std::uint64_t puts_lost = 0;
  std::uint64_t corrupt_dropped = 0;
  std::uint64_t evicted = 0;
  std::uint64_t degraded = 0;  ///< how often a layer was left out after an error
  std::uint64_t lease_waits = 0;
  std::uint64_t lease_timeouts = 0;

  friend bool operator==(const Totals&, const Totals&) = default;
};

/// Counters of one service since it was made, and the state of its layers. `hits` + `misses` = look-ups.
struct Stats {
  std::uint64_t memory_hits = 0;
  std::uint64_t hits = 0;    ///< artifacts found in a layer
  std::uint64_t misses = 0;  ///< artifacts found in none
  std::uint64_t compiles = 0;
  std::uint64_t compile_failures = 0;
  std::uint64_t puts = 0;
  std::uint64_t puts_lost = 0;        ///< compiled, returned, but not written
  std::uint64_t corrupt_dropped = 0;  ///< rows or databases found damaged, rows that the driver rejected
  std::uint64_t evicted = 0;
  std::uint64_t degraded = 0;        ///< layers left out now
  std::uint64_t lease_waits = 0;     ///< requests that waited for another process
  std::uint64_t lease_timeouts = 0;  ///< of those, how many went on to compile for themselves
  std::uint64_t max_bytes = 0;
  std::uint64_t loaded = 0;  ///< kernels loaded now
  std::vector<LayerStats> layers;
  Totals totals;        ///< of the cache, this service included; without a user cache, of this service
  std::string warning;  ///< what an operator should change about the cache; empty for nothing
};

}  // namespace kiln
