#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/files.hpp"

namespace kiln::test {

/// What many processes got that asked one cache for the same kernels at once.
struct Crowd {
  int failed = 0;                                ///< processes that did not end well
  std::uint64_t artifacts = 0;                   ///< given
  std::map<int, std::set<std::string>> digests;  ///< by kernel
  std::uint64_t compiles = 0;
  std::uint64_t puts_lost = 0;
  std::uint64_t corrupt_dropped = 0;
  std::uint64_t lease_waits = 0;
  std::uint64_t lease_timeouts = 0;
  std::string said;  ///< on standard error

  /// No kernel came out in two ways.
  bool agree() const {
    for (const auto& [number, of_number] : digests) {
      if (of_number.size() != 1) {
        return false;
      }
    }
    return true;
  }
};

/// Starts `processes` of service_worker on an empty cache in `folder`, lets them go at once, and waits for all.
inline Crowd run_crowd(const std::filesystem::path& folder, const std::filesystem::path& nvrtc, int processes,
                       int keys) {
  int start[2];
  if (::pipe2(start, O_CLOEXEC) != 0) {
    throw std::runtime_error("cannot make a pipe");
  }
  std::vector<ChildProcess> children;
  auto file = [&](int child, const char* kind) { return folder / (std::to_string(child) + kind); };
  for (int child = 0; child < processes; ++child) {
    children.emplace_back([&] {
      int out = ::open(file(child, ".out").c_str(), O_WRONLY | O_CREAT, 0600);
      int err = ::open(file(child, ".err").c_str(), O_WRONLY | O_CREAT, 0600);
      ::dup2(start[0], STDIN_FILENO);
      ::dup2(out, STDOUT_FILENO);
      ::dup2(err, STDERR_FILENO);
      ::execl(KILN_SERVICE_WORKER, KILN_SERVICE_WORKER, (folder / "cache").c_str(), nvrtc.c_str(),
              std::to_string(keys).c_str(), std::to_string(child).c_str(), static_cast<char*>(nullptr));
      return 127;
    });
  }
  ::close(start[0]);
  ::close(start[1]);
  Crowd crowd;
  for (ChildProcess& child : children) {
    crowd.failed += child.wait() == 0 ? 0 : 1;
  }
  for (int child = 0; child < processes; ++child) {
    std::istringstream lines(read_file(file(child, ".out")));
    std::string word;
    for (std::string digest; lines >> word && word != "counters"; ++crowd.artifacts) {
      lines >> digest;
      crowd.digests[std::stoi(word)].insert(digest);
    }
    for (std::uint64_t Crowd::* counter :
         {&Crowd::compiles, &Crowd::puts_lost, &Crowd::corrupt_dropped, &Crowd::lease_waits, &Crowd::lease_timeouts}) {
      std::uint64_t count = 0;
      lines >> count;
      crowd.*counter += count;
    }
    crowd.said += read_file(file(child, ".err"));
  }
  return crowd;
}

}  // namespace kiln::test
