#include "cli/interruption.hpp"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <system_error>
#include <utility>

#include "kiln/quote.hpp"

namespace kiln::cli {

namespace {

constexpr std::array k_signals{SIGINT, SIGTERM, SIGHUP};
/// What the waiting thread, which has it blocked too, is woken with at the end.
constexpr int k_wake = SIGUSR1;

bool is_ignored(int signal) noexcept {
  struct sigaction action{};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

TidyOnSignal::TidyOnSignal(std::vector<std::filesystem::path> temporary, std::function<std::string()> note)
    : temporary_(std::move(temporary)), note_(std::move(note)) {
  sigemptyset(&waited_for_);
  for (int signal : k_signals) {
    if (!is_ignored(signal)) {  // as nohup has it
      sigaddset(&waited_for_, signal);
    }
  }
  sigset_t awaited = waited_for_;
  sigaddset(&awaited, k_wake);
  ::pthread_sigmask(SIG_BLOCK, &awaited, &before_);
  try {
    waiting_ = std::thread([this, awaited] { wait(awaited); });
  } catch (const std::system_error&) {
    sigemptyset(&waited_for_);
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &waited_for_, nullptr);
}

TidyOnSignal::~TidyOnSignal() {
  if (waiting_.joinable()) {
    over_ = true;
    ::pthread_kill(waiting_.native_handle(), k_wake);
    waiting_.join();
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);  // a signal that came last ends the program here
}

void TidyOnSignal::wait(const sigset_t& awaited) noexcept {
  while (!over_) {
    int signal = k_wake;
    ::sigwait(&awaited, &signal);
    if (signal != k_wake) {
      end(signal);
    }
  }
}

void TidyOnSignal::end(int signal) noexcept {
  for (const std::filesystem::path& path : temporary_) {
    std::error_code error;
    std::filesystem::remove(path, error);  // not a folder with files in it: that is nobody's temporary file
  }
  if (note_) {
    // A progress bar may stand on the line.
    std::cerr << (::isatty(STDERR_FILENO) == 1 ? "\n" : "") + std::string("kiln: ") + printable(note_()) + "\n";
  }
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  ::sigaction(signal, &action, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::kill(::getpid(), signal);
  for (;;) {
    ::pause();
  }
}

}  // namespace kiln::cli
