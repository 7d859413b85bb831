#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jit/options.hpp"
#include "jit/toolchain.hpp"
#include "kiln/artifact.hpp"
#include "kiln/source.hpp"
#include "kiln/target.hpp"

namespace kiln::jit {

/// An opened NVRTC library. Thread-safe; compiles on several threads at once. Never unloaded: NVRTC keeps state that
/// does not survive dlclose.
class Nvrtc {
 public:
  /// Throws Error{nvrtc_unavailable} with every place looked in.
  static std::shared_ptr<const Nvrtc> open(const NvrtcSearch& search);

  /// "sm_75", "sm_90a", …: cubin targets this library can compile for, ascending.
  const std::vector<Target>& supported() const noexcept;
  /// `target` if this library can serve it. A plain sm_ target newer than it knows becomes PTX of the highest known
  /// architecture. Throws Error{unsupported_target} listing the supported ones.
  Target resolve(const Target& target) const;
  /// major.minor.build. The build is read from a compile's PTX; when none was made yet, from that of an empty kernel.
  Compiler identity() const;
  const std::string& path() const noexcept;

  /// Compiles. Fills every field of the artifact but key, spec and created. Throws CompileError.
  Artifact compile(const Source& source, const Target& target, const CompileArguments& arguments) const;

 private:
  struct State;
  explicit Nvrtc(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace kiln::jit
