#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "kiln/artifact.hpp"

namespace kiln::cache {

/// The right to compile one key, among the processes of this host and user that share a user cache. Released by the
/// kernel when its holder ends, however it ends; nothing is left behind that could keep others waiting. Local to the
/// node: never on a network file system. A lease that is missed (containers that share a cache, but no /dev/shm) costs
/// one more compile, never an error. Two leases of one process exclude each other like those of two processes.
/// A forked child does not inherit it. Any thread may acquire and release; one object belongs to one thread at a time.
class Lease {
 public:
  enum class Result {
    held,         ///< ours until destruction
    timed_out,    ///< another process held it for the whole wait
    unavailable,  ///< no lock can be had here (no writable node-local directory): go on without
  };

  Lease() noexcept = default;
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&& other) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  /// Waits at most `wait`; 0 only tries. `cache_dir`, which need not exist, tells which cache the key belongs to: two
  /// paths to one directory are one cache. `waited` (if not null) is set to whether another process held it first:
  /// then the caller looks in the cache again before it compiles. Does not throw.
  static std::pair<Lease, Result> acquire(const std::filesystem::path& cache_dir, const Key& key,
                                          std::chrono::milliseconds wait, bool* waited = nullptr) noexcept;

 private:
  Lease(int descriptor, std::uint64_t generation) noexcept : descriptor_(descriptor), generation_(generation) {}
  void release() noexcept;

  int descriptor_ = -1;
  std::uint64_t generation_ = 0;  ///< of the process that acquired it: a forked child's copy holds nothing
};

}  // namespace kiln::cache
