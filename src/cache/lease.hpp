#pragma once

#include <chrono>
#include <filesystem>

#include "kiln/artifact.hpp"

namespace kiln::cache {

/// The right to compile one key, among the processes of this host that share a user cache. Released by the kernel when
/// its holder ends, however it ends; nothing is left behind that could keep others waiting. Local to the node: never
/// on a network file system.
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

  /// Waits at most `wait`. `cache_dir` tells which cache the key belongs to. `waited` (if not null) is set to whether
  /// another process held it first: then the caller looks in the cache again before it compiles.
  static std::pair<Lease, Result> acquire(const std::filesystem::path& cache_dir, const Key& key,
                                          std::chrono::milliseconds wait, bool* waited = nullptr);

 private:
  explicit Lease(int descriptor) noexcept : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace kiln::cache
