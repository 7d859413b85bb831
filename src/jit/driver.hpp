#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "kiln/target.hpp"

namespace kiln::jit {

struct DriverApi;  // the table of entry points, in driver_api.hpp

/// A CUDA context as the cache of loaded kernels tells contexts apart: ids are never used twice in a process.
struct ContextId {
  void* handle = nullptr;
  std::uint64_t id = 0;
  friend auto operator<=>(const ContextId&, const ContextId&) = default;
};

/// The opened CUDA driver. Thread-safe. Never unloaded.
class Driver {
 public:
  /// Opens libcuda and calls cuInit, once a process; later calls return the same driver.
  /// Throws Error{driver_unavailable} naming what was tried, Error{no_device} when cuInit finds none.
  static std::shared_ptr<const Driver> open();
  /// libcuda has been opened by `open` in this process. Never opens it.
  static bool opened() noexcept;

  /// The calling thread's current context. Throws Error{no_device} when none is current: Kiln makes none.
  ContextId current_context() const;
  /// The architecture of the current context's device.
  Target current_target() const;
  /// Some stream of the current context is being captured in a mode that a load would break.
  bool capture_active() const;
  /// Of the driver: 13000 for 13.0.
  int version() const noexcept;
  const DriverApi& api() const noexcept;
  /// False once the process is exiting: the driver must not be called any more.
  static bool usable() noexcept;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace kiln::jit
