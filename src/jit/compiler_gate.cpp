#include "jit/compiler_gate.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <mutex>

#include "kiln/error.hpp"
#include "support/fork_gate.hpp"

namespace kiln::jit {

namespace {

constexpr std::chrono::seconds k_patience{10};

struct State {
  support::ForkGate gate;
  bool was_empty = true;            ///< when it was shut
  std::atomic<bool> broken{false};  ///< this process was forked in the middle of a compile
};

// NVRTC's locks belong to the process, and so does what keeps them. Never destroyed: others may compile until the end.
State& state() {
  static State* const the_state = new State;
  return *the_state;
}

void watch_forks() {
  static std::once_flag once;
  std::call_once(once, [] {
    state();
    pthread_atfork([] { state().was_empty = state().gate.shut(k_patience); }, [] { state().gate.open(false); },
                   [] {
                     if (!state().was_empty) {
                       state().broken = true;
                     }
                     state().gate.open(true);
                   });
  });
}

}  // namespace

CompilerPassage::CompilerPassage() {
  watch_forks();
  if (state().broken) {
    throw Error(ErrorCode::nvrtc_unavailable,
                "this process was forked while a kernel was being compiled, and NVRTC does not survive that: fork at "
                "another time, or start the child with exec");
  }
  state().gate.enter();
}

CompilerPassage::~CompilerPassage() { state().gate.leave(); }

}  // namespace kiln::jit
