#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "jit/driver.hpp"
#include "jit/driver_api.hpp"

namespace kiln::jit {

/// A stream of the current context is being captured, as far as the legacy default stream tells. Never disturbs a
/// capture.
bool legacy_stream_captured(const DriverApi& api) noexcept;

/// While it lives, calls of this thread that a capture elsewhere would forbid, such as loading, are allowed and leave
/// the capture intact. Restores the thread's mode.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const DriverApi& api) noexcept;
  ~RelaxedCapture();
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  const DriverApi& api_;
  int mode_ = k_capture_mode_relaxed;  // then the thread's own, once exchanged
  bool exchanged_;
};

/// What the driver loaded an image as, and where: a library where the driver has those (12.0), else a module.
struct LoadedImage {
  CUlib_st* library = nullptr;
  CUmod_st* module = nullptr;
  ContextId context;
};

/// Unloads images nobody holds any more, at a moment when that is safe: not while a stream is being captured, in which
/// case they wait for the next load or release, and never once the driver must not be called. Thread-safe.
class UnloadQueue {
 public:
  explicit UnloadQueue(const DriverApi& api) noexcept : api_(api) {}

  /// Takes over `image` and unloads it now or later. Reports nothing: there is nobody left to tell.
  void retire(const LoadedImage& image) noexcept;
  /// Unloads what waits, if it may. The driver must be usable.
  void flush() noexcept;
  /// Images that wait.
  std::size_t waiting() const noexcept;

 private:
  /// False when the image has to wait.
  bool unload(const LoadedImage& image) noexcept;
  void unload_waiting() noexcept;

  const DriverApi& api_;
  mutable std::mutex mutex_;
  std::vector<LoadedImage> waiting_;
};

}  // namespace kiln::jit
