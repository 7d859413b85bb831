#include "cli/interruption.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "kiln/file_trouble.hpp"
#include "kiln/quote.hpp"

namespace kiln::cli {

namespace {

constexpr std::array k_signals{SIGINT, SIGTERM, SIGHUP};
constexpr unsigned char k_no_signal = 0;

/// A signal's handler knows nothing but what is static: the end of the pipe that it tells the waiting thread through.
std::atomic<int> write_end{-1};

void tell(unsigned char signal) noexcept { static_cast<void>(!::write(write_end, &signal, 1)); }

extern "C" void kiln_tell_signal(int signal) {
  int error = errno;
  tell(static_cast<unsigned char>(signal));
  errno = error;
}

void handle(int signal, void (*handler)(int)) noexcept {
  struct sigaction before{};
  ::sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) {
    return;
  }
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

TidyOnSignal::TidyOnSignal(std::vector<std::filesystem::path> temporary, std::function<std::string()> note)
    : temporary_(std::move(temporary)), note_(std::move(note)) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("signals cannot be waited for: " + file_trouble(errno));
  }
  read_end_ = ends[0];
  write_end = ends[1];
  waiting_ = std::thread([this] { wait(); });
  for (int signal : k_signals) {
    handle(signal, kiln_tell_signal);
  }
}

TidyOnSignal::~TidyOnSignal() {
  for (int signal : k_signals) {
    handle(signal, SIG_DFL);
  }
  tell(k_no_signal);
  waiting_.join();
  ::close(read_end_);
  ::close(write_end.exchange(-1));
}

void TidyOnSignal::wait() {
  unsigned char signal = k_no_signal;
  while (::read(read_end_, &signal, 1) < 0 && errno == EINTR) {
  }
  if (signal == k_no_signal) {
    return;
  }
  for (const std::filesystem::path& path : temporary_) {
    std::error_code error;
    std::filesystem::remove(path, error);  // not a folder with files in it: that is nobody's temporary file
  }
  if (note_) {
    // A progress bar may stand on the line.
    std::cerr << (::isatty(STDERR_FILENO) == 1 ? "\n" : "") + std::string("kiln: ") + printable(note_()) + "\n";
  }
  handle(signal, SIG_DFL);
  ::kill(::getpid(), signal);
  ::pause();
}

}  // namespace kiln::cli
