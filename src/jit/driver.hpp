#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/target.hpp"

namespace kiln::jit {

struct DriverApi;   // the table of entry points, in driver_api.hpp
class UnloadQueue;  // libraries that wait for a safe moment, in unload_queue.hpp

/// A CUDA context as the cache of loaded kernels tells contexts apart: ids are never used twice in a process. Drivers
/// older than 12.0 give no ids (0): there, a context made where a destroyed one was cannot be told from it, so nothing
/// may be remembered by it.
struct ContextId {
  void* handle = nullptr;
  std::uint64_t id = 0;
  bool is_unique() const noexcept { return id != 0; }
  friend auto operator<=>(const ContextId&, const ContextId&) = default;
};

/// The opened CUDA driver. Thread-safe. Never unloaded.
class Driver {
 public:
  /// Opens libcuda and calls cuInit, once a process; later calls return the same driver. A failed attempt may be
  /// repeated. Throws Error{driver_unavailable} naming what was tried, or when the process was forked after CUDA was
  /// opened, or is exiting; Error{no_device} when cuInit finds none.
  static std::shared_ptr<const Driver> open();
  /// Opens the first of `files` that can be opened, apart from the process's driver: for tests with a libcuda of their
  /// own.
  static std::shared_ptr<const Driver> open_files(const std::vector<std::string>& files);
  /// libcuda has been opened by `open` in this process. Never opens it.
  static bool opened() noexcept;
  /// False once the process is exiting, and in the child of a fork: the driver must not be called any more.
  static bool usable() noexcept;
  /// Throws Error{driver_unavailable} saying why when not `usable`.
  static void require_usable();

  /// The calling thread's current context. Throws Error{no_device} when none is current: Kiln makes none.
  ContextId current_context() const;
  /// The architecture of the current context's device, as a plain cubin target. Throws like `current_context`.
  Target current_target() const;
  /// Some stream of the current context is being captured in a way that the driver tells: streams made with
  /// cudaStreamNonBlocking capture unseen. Asking never disturbs a capture.
  bool capture_active() const;
  /// Of the driver: 13000 for 13.0.
  int version() const noexcept;
  /// The library as it was opened.
  const std::string& path() const noexcept;
  const DriverApi& api() const noexcept;
  UnloadQueue& unloads() const noexcept;

 private:
  struct State;
  explicit Driver(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace kiln::jit
