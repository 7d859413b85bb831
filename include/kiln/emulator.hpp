#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "kiln/export.h"
#include "kiln/kernel.hpp"
#include "kiln/service.hpp"
#include "kiln/source.hpp"

namespace kiln {

/// A kernel's source compiled by the host's C++ compiler, to prove what it does without a GPU. It shows that the
/// code is right, not that it is fast, and nothing of what nvcc's or the driver's compiler would do to it.
/// Threads of a block run one at a time, switching at barriers; blocks run in order. Not thread-safe.
class KILN_EXPORT EmulatedKernel {
 public:
  /// Compiles `source` for the host, as if for `target` (`__CUDA_ARCH__`). The compiler: $KILN_HOST_CXX, else $CXX,
  /// else clang++-19, clang++, g++, c++ on PATH. Throws Error{host_compiler} with the command and its output.
  EmulatedKernel(const Source& source, const Target& target);

  /// Runs entry number `entry` over the whole grid. Pointers among the arguments are host pointers.
  /// Throws Error{invalid_argument} for a shape no GPU would accept (block over 1024 threads, shared memory over
  /// 227 KiB, cluster that does not divide the grid).
  void launch(const LaunchConfig& config, std::span<const Argument> arguments, std::size_t entry = 0) const;
  template <typename... Arguments>
  void operator()(const LaunchConfig& config, const Arguments&... arguments) const {
    const std::array<Argument, sizeof...(Arguments)> list{Argument{&arguments, sizeof(Arguments)}...};
    launch(config, list);
  }
  /// As ModuleData does for a loaded kernel.
  void set_data(const ModuleData& data) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace kiln
