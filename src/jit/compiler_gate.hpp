#pragma once

namespace kiln::jit {

/// NVRTC has locks of its own, and a child that is forked while another thread compiles would wait for them for ever.
/// So a fork waits until running compiles have ended, ten seconds at most; after that, the child cannot compile.
class CompilerPassage {
 public:
  /// Throws Error{nvrtc_unavailable} in the child of such a fork. Not to be nested.
  CompilerPassage();
  ~CompilerPassage();
  CompilerPassage(const CompilerPassage&) = delete;
  CompilerPassage& operator=(const CompilerPassage&) = delete;
};

}  // namespace kiln::jit
