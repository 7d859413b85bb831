#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "kiln/export.h"
#include "kiln/target.hpp"

/// A GPU for programs without CUDA code of their own: the command line, examples, tests. An application that uses CUDA
/// has a context and memory already and needs none of this.
namespace kiln {

/// A device whose primary context is current on the thread that made this, until the last copy is gone. To be used and
/// destroyed on that thread, and destroyed in the reverse order of making.
class KILN_EXPORT Device {
 public:
  /// Throws Error{driver_unavailable}, Error{no_device} when there is no device of that number, DriverError.
  explicit Device(int ordinal = 0);

  /// Its own architecture: "sm_90" for an H200.
  Target target() const;
  /// Can it run what is compiled for `target`? A cubin runs on its own and on later devices of the same major version,
  /// an `a` cubin on no other device, PTX on its own and every later one.
  bool runs(const Target& target) const;
  /// Waits for everything launched in its context. Throws DriverError if a kernel failed.
  void synchronize() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Memory of the current context's device, 256-byte aligned. Movable; the context must outlive it.
class KILN_EXPORT DeviceBuffer {
 public:
  /// Throws DriverError, Error{no_device} when no context is current. 0 bytes: `data` is null.
  explicit DeviceBuffer(std::size_t bytes);

  void* data() const noexcept;
  std::size_t size() const noexcept;
  /// Copy as many bytes as given, from the buffer's start, and wait. Throws Error{invalid_argument} when there are more
  /// than the buffer has, DriverError.
  void upload(std::span<const std::byte> bytes) const;
  void download(std::span<std::byte> bytes) const;

 private:
  struct State;
  std::unique_ptr<State, void (*)(State*) noexcept> state_;
};

}  // namespace kiln
