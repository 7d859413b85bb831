#pragma once

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/files.hpp"

namespace kiln::test {

/// A compiler of a test's own: a folder with a copy of the fake libnvrtc, which looks at the files beside it at each
/// compile, so that a test steers it in every process that has it open. It fails for sources that hold an `#error`.
class FakeNvrtc {
 public:
  explicit FakeNvrtc(std::filesystem::path folder, const std::string& version = "13.0.88")
      : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    std::filesystem::copy_file(KILN_FAKE_NVRTC, library());
    write_file(folder_ / "version", version);
    write_file(folder_ / "compiles", "");
  }

  /// For ServiceOptions::nvrtc and KILN_NVRTC.
  std::filesystem::path library() const { return folder_ / "libnvrtc.so"; }
  const std::filesystem::path& folder() const { return folder_; }

  /// The processes that began a compile, in order.
  std::vector<pid_t> compilers() const {
    std::istringstream stream(read_file(folder_ / "compiles"));
    std::vector<pid_t> pids;
    for (pid_t pid = 0; stream >> pid;) {
      if (pid > 0) {
        pids.push_back(pid);
      }
    }
    return pids;
  }
  /// How many compiles ran at once.
  int most_at_once() const {
    std::istringstream stream(read_file(folder_ / "compiles"));
    int most = 0;
    int running = 0;
    for (pid_t pid = 0; stream >> pid;) {
      running += pid > 0 ? 1 : -1;
      most = std::max(most, running);
    }
    return most;
  }
  std::size_t compiles() const { return compilers().size(); }
  /// False when that many compiles have not begun within a while.
  bool begins(std::size_t compiles) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (this->compiles() < compiles) {
      if (std::chrono::steady_clock::now() > end) {
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  /// No compile ends from now on …
  void hold() const { write_file(folder_ / "hold", ""); }
  /// … until now.
  void release() const { std::filesystem::remove(folder_ / "hold"); }
  /// Each compile takes that long.
  void take(std::chrono::milliseconds time) const {
    write_file(folder_ / "milliseconds", std::to_string(time.count()));
  }
  void set_image_bytes(std::size_t bytes) const { write_file(folder_ / "image_bytes", std::to_string(bytes)); }
  /// Compiles are not counted any more: the library writes nothing.
  void stop_counting() const { std::filesystem::remove(folder_ / "compiles"); }

 private:
  std::filesystem::path folder_;
};

}  // namespace kiln::test
