#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "kiln/artifact.hpp"
#include "kiln/export.h"

struct CUstream_st;
struct CUfunc_st;

namespace kiln {

/// A CUstream or cudaStream_t; null is the default stream.
using Stream = CUstream_st*;

struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

struct LaunchConfig {
  Dim3 grid{};                ///< blocks
  Dim3 block{};               ///< threads a block
  unsigned shared_bytes = 0;  ///< dynamic shared memory a block; above 48 KiB the kernel's limit must be raised
                              ///< first, with `Kernel::allow_shared_bytes`
  Dim3 cluster{};             ///< blocks a cluster; {1,1,1} for none; needs sm_90
  Stream stream = nullptr;
  bool cooperative = false;  ///< all blocks run at the same time, so that they may wait for each other; the driver
                             ///< refuses more than `Kernel::resident_blocks`
};

/// A kernel argument: the address of a value and its size in bytes, for the length of the call.
struct Argument {
  const void* address;
  std::size_t size;
};

namespace jit {
class LoadedKernel;
}

/// A loaded kernel, launchable in the context it was made for. Cheap to copy; safe to use from any thread. Every
/// copy keeps the library it came from loaded; a kernel in use is never unloaded behind its holder's back.
class KILN_EXPORT Kernel {
 public:
  /// Launches with exactly the kernel's parameters, in order: `kernel.launch(config, y, x, n)`. Takes no lock and
  /// allocates nothing. Where the driver tells (12.4 and newer), a wrong number of arguments or an argument of
  /// the wrong size throws Error{invalid_argument} naming it, before anything is launched. Throws DriverError if
  /// the launch is refused; Error{driver_unavailable} while the process exits and in the child of a fork. At most
  /// 128 arguments. Asynchronous, like any launch.
  template <typename... Arguments>
  void launch(const LaunchConfig& config, const Arguments&... arguments) const {
    static_assert((std::is_trivially_copyable_v<Arguments> && ...), "kernel arguments are copied byte by byte");
    const std::array<Argument, sizeof...(Arguments)> list{
        Argument{static_cast<const void*>(&arguments), sizeof(Arguments)}...};
    launch_arguments(config, list);
  }
  void launch_arguments(const LaunchConfig& config, std::span<const Argument> arguments) const;

  /// Raises the limit for dynamic shared memory. Once, before the first launch that needs it.
  void allow_shared_bytes(unsigned bytes) const;

  /// How many blocks of `threads` threads and that much dynamic shared memory the current context's device runs at the
  /// same time. Throws DriverError.
  unsigned resident_blocks(unsigned threads, unsigned shared_bytes) const;

  /// The entry this kernel was loaded for, as requested.
  const EntryPoint& entry() const noexcept;
  /// The artifact it was loaded from.
  const Artifact& artifact() const noexcept;
  /// The driver's handle, for cuLaunchKernel and the occupancy calls. Valid while this kernel lives.
  CUfunc_st* function() const noexcept;

  explicit Kernel(std::shared_ptr<const jit::LoadedKernel> loaded) noexcept : loaded_(std::move(loaded)) {}

 private:
  std::shared_ptr<const jit::LoadedKernel> loaded_;
};

}  // namespace kiln
