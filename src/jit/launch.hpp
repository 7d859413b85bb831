#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jit/library.hpp"
#include "kiln/kernel.hpp"

namespace kiln::jit {

/// One kernel of a loaded library: what kiln::Kernel shares among its copies. Immutable; any thread may use it.
class LoadedKernel {
 public:
  /// `entry` belongs to the library's artifact. `parameters`: the size of each, in bytes; absent where the driver
  /// cannot tell.
  LoadedKernel(std::shared_ptr<const Library> library, const EntryPoint& entry, CUfunc_st* function,
               std::optional<std::vector<std::size_t>> parameters) noexcept
      : library_(std::move(library)), entry_(entry), function_(function), parameters_(std::move(parameters)) {}

  /// See kiln::Kernel.
  void launch(const LaunchConfig& config, std::span<const Argument> arguments) const;
  void allow_shared_bytes(unsigned bytes) const;
  unsigned resident_blocks(unsigned threads, unsigned shared_bytes) const;

  const EntryPoint& entry() const noexcept { return entry_; }
  const Artifact& artifact() const noexcept { return library_->artifact(); }
  CUfunc_st* function() const noexcept { return function_; }
  /// The context it was loaded into.
  const ContextId& context() const noexcept { return library_->image().context; }

 private:
  void check_arguments(std::span<const Argument> arguments) const;
  std::string describe() const;
  [[noreturn]] void refuse_arguments(std::span<const Argument> arguments) const;
  [[noreturn]] void throw_refused(int result, const char* call, const LaunchConfig& config) const;

  std::shared_ptr<const Library> library_;
  const EntryPoint& entry_;
  CUfunc_st* function_;
  std::optional<std::vector<std::size_t>> parameters_;
};

}  // namespace kiln::jit
