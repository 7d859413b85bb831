#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kiln/export.h"
#include "kiln/kernel.hpp"
#include "kiln/service.hpp"
#include "kiln/source.hpp"

namespace kiln {

/// A kernel's source compiled by the host's C++ compiler, to prove what it does without a GPU. It shows that the
/// code is right, not that it is fast, and nothing of what nvcc's or the driver's compiler would do to it.
/// Threads of a block run one at a time, switching at barriers and warp operations; blocks run in order, clusters too,
/// so that no block can wait for another. Shared memory starts as garbage. Inline PTX cannot be emulated: sources leave
/// it out where `KILN_EMULATION` is defined. The kernel runs in this process, and with its rights: what it does to
/// wrong addresses ends the process, unless one of the checks below finds it first. Not thread-safe; several objects
/// are.
class KILN_EXPORT EmulatedKernel {
 public:
  /// Compiles `source` for the host, as if for `target` (`__CUDA_ARCH__`); about 100 ms. Of the source's options only
  /// macros count. The compiler: $KILN_HOST_CXX, else $CXX, else g++, clang++-19, clang++, c++ on PATH. Throws
  /// Error{host_compiler} with the command and its output, or naming the compilers tried; Error{invalid_argument} for a
  /// native target.
  EmulatedKernel(const Source& source, const Target& target);

  /// Runs entry number `entry` over the whole grid. Pointers among the arguments are host pointers.
  /// Throws Error{invalid_argument} for a shape no GPU would accept (block over 1024 threads, shared memory over
  /// 227 KiB, cluster that does not divide the grid) and for arguments that are not the kernel's, before anything runs;
  /// and, naming block, thread and line, for what a GPU would not survive: misaligned access (of whole vectors only
  /// when g++ compiled the kernel), an index outside an array of known size, a whole number divided by zero, a write
  /// behind dynamic shared memory, threads that wait for ever or at different barriers, a shuffle of a width that no
  /// warp has, a failed assertion. Other launches can follow.
  void launch(const LaunchConfig& config, std::span<const Argument> arguments, std::size_t entry = 0) const;
  template <typename... Arguments>
  void operator()(const LaunchConfig& config, const Arguments&... arguments) const {
    const std::array<Argument, sizeof...(Arguments)> list{Argument{&arguments, sizeof(Arguments)}...};
    launch(config, list);
  }
  /// As ModuleData does for a loaded kernel. Throws Error{invalid_argument} for a symbol that is not there or too
  /// small.
  void set_data(const ModuleData& data) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace kiln
