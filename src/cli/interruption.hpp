#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace kiln::cli {

/// While one lives, SIGINT, SIGTERM and SIGHUP first remove the given temporary files and say what `note` returns, on
/// standard error; then they end the program as they always do. A signal that is ignored stays so. There must be only
/// one at a time.
class TidyOnSignal {
 public:
  /// Throws std::runtime_error when there are no descriptors left.
  explicit TidyOnSignal(std::vector<std::filesystem::path> temporary, std::function<std::string()> note = {});
  ~TidyOnSignal();
  TidyOnSignal(const TidyOnSignal&) = delete;
  TidyOnSignal& operator=(const TidyOnSignal&) = delete;

 private:
  void wait();

  std::vector<std::filesystem::path> temporary_;
  std::function<std::string()> note_;
  int read_end_ = -1;
  std::thread waiting_;
};

}  // namespace kiln::cli
