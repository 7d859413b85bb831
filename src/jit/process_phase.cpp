#include "jit/process_phase.hpp"

#include <pthread.h>

#include <cstdlib>
#include <mutex>

namespace kiln::jit {

namespace {

// The phase belongs to the process, as the driver itself does; a plain constant-initialised atomic, so it works before
// and after every constructor and destructor of the program.
constinit std::atomic<Phase> g_phase{Phase::closed};
constinit std::once_flag g_fork_handler;

void in_forked_child() {
  if (g_phase.load() != Phase::closed) {
    g_phase.store(Phase::forked);
  }
}

void at_exit() { g_phase.store(Phase::exiting); }

}  // namespace

Phase process_phase() noexcept { return g_phase.load(std::memory_order_relaxed); }

void note_opening() {
  std::call_once(g_fork_handler, [] { pthread_atfork(nullptr, nullptr, in_forked_child); });
  Phase expected = Phase::closed;
  g_phase.compare_exchange_strong(expected, Phase::opening);
}

void note_closed() noexcept {
  Phase expected = Phase::opening;
  g_phase.compare_exchange_strong(expected, Phase::closed);
}

void note_open() {
  std::atexit(at_exit);
  Phase expected = Phase::opening;
  g_phase.compare_exchange_strong(expected, Phase::open);
}

}  // namespace kiln::jit
