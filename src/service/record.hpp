#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <unordered_set>

#include "kiln/log.hpp"
#include "kiln/target.hpp"
#include "kiln/template.hpp"
#include "kiln/value.hpp"

namespace kiln::service {

/// Adds requests to a plan file (docs/plan-format.md) that `precompile` reads: KILN_RECORD. Thread-safe, and several
/// processes may record to one file. The file holds valid JSON at all times and no request twice.
///
/// Recording never fails a request: trouble is said once through the log, and nothing more is recorded.
class Recorder {
 public:
  /// Touches nothing until the first `add`.
  Recorder(std::filesystem::path file, LogCallback log);

  /// Records one request, unless this recorder or another process already has. The values must have been accepted by
  /// `instantiate`, and `target` must not be native. Rewrites the file for a new request; a repeated one costs a
  /// look-up.
  void add(const Template& tmpl, const Values& values, const Target& target) noexcept;

 private:
  void give_up(const std::string& why) noexcept;

  const std::filesystem::path file_;
  const LogCallback log_;
  std::mutex mutex_;
  std::unordered_set<std::string> recorded_;  ///< the requests this process has added or found in the file
  bool active_ = true;
};

}  // namespace kiln::service
