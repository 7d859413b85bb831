#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <utility>

namespace kiln::test {

/// A forked child that runs a function and ends with its result; killed and reaped with this object.
class ChildProcess {
 public:
  /// `function` gives the exit status. An exception in it ends the child with 99.
  template <typename Function>
  explicit ChildProcess(Function&& function) : pid_(::fork()) {
    if (pid_ < 0) {
      throw std::runtime_error("cannot fork");
    }
    if (pid_ == 0) {
      int status = 99;
      try {
        status = std::forward<Function>(function)();
      } catch (...) {
      }
      ::_exit(status);  // no destructors: they belong to the parent's objects
    }
  }
  ChildProcess(ChildProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  ChildProcess& operator=(ChildProcess&&) = delete;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() {
    if (pid_ > 0) {
      kill(SIGKILL);
      wait();
    }
  }

  pid_t pid() const noexcept { return pid_; }
  void kill(int signal) const noexcept { ::kill(pid_, signal); }
  /// The exit status; -signal when a signal ended it.
  int wait() noexcept {
    int status = 0;
    const pid_t pid = std::exchange(pid_, -1);
    if (::waitpid(pid, &status, 0) != pid) {
      return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_;
};

/// One side says a byte, the other waits for it. Shared with children forked later.
class Signal {
 public:
  Signal() {
    if (::pipe(ends_) != 0) {
      throw std::runtime_error("cannot make a pipe");
    }
  }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  void give() const noexcept { (void)!::write(ends_[1], "x", 1); }
  /// False when every process that could give it has ended.
  bool take() const noexcept {
    char byte = 0;
    return ::read(ends_[0], &byte, 1) == 1;
  }

 private:
  int ends_[2]{};
};

}  // namespace kiln::test
