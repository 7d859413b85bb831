#pragma once

#include <signal.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace kiln::cli {

/// While one lives, SIGINT, SIGTERM and SIGHUP first remove the given temporary files and say what `note` returns, on
/// standard error; then they end the program as they always do. A signal that is ignored stays so. There must be only
/// one at a time, made before the threads that work meanwhile.
///
/// The signals are blocked and waited for, not handled: NVRTC puts handlers of its own in the place of any while it
/// compiles, and those end the program with exit code 4.
class TidyOnSignal {
 public:
  /// Where no thread is to be had, signals end the program as if there were none of this.
  explicit TidyOnSignal(std::vector<std::filesystem::path> temporary = {}, std::function<std::string()> note = {});
  ~TidyOnSignal();
  TidyOnSignal(const TidyOnSignal&) = delete;
  TidyOnSignal& operator=(const TidyOnSignal&) = delete;

 private:
  void wait(const sigset_t& awaited) noexcept;
  [[noreturn]] void end(int signal) noexcept;

  std::vector<std::filesystem::path> temporary_;
  std::function<std::string()> note_;
  sigset_t waited_for_{};
  sigset_t before_{};  ///< the mask of the thread that made this
  std::atomic<bool> over_ = false;
  std::thread waiting_;
};

}  // namespace kiln::cli
