#pragma once

#include <atomic>

namespace kiln::jit {

/// Where this process stands with the CUDA driver. Every driver call depends on it: after exit handlers have begun to
/// run, or in the child of a fork, the driver must not be called any more.
enum class Phase {
  closed,   ///< no driver opened
  opening,  ///< being opened by some thread
  open,
  forked,   ///< the child of a process that had opened the driver: CUDA does not survive a fork
  exiting,  ///< the process's exit handlers are running
};

/// One relaxed load: cheap enough for every launch.
Phase process_phase() noexcept;

/// The driver is about to be opened. From here on a fork leaves the child `forked`.
void note_opening();
/// Opening failed; another attempt may be made.
void note_closed() noexcept;
/// cuInit has succeeded. Exit handlers run in reverse order, so the one registered here runs before the driver's own.
void note_open();

}  // namespace kiln::jit
