#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/files.hpp"
#include "support/temp_dir.hpp"

namespace kiln::test {

using Json = nlohmann::json;

/// What a run of the program left behind.
struct Finished {
  int code = -1;  ///< exit code; -signal when a signal ended it
  std::string out;
  std::string err;

  /// Standard output as JSON, one object a line. Throws if a line is none.
  std::vector<Json> lines() const;
  Json line() const;
};

inline constexpr const char* k_closed = "closed";
inline constexpr const char* k_broken_pipe = "broken pipe";

/// The program kiln in a world of its own: an empty home, and none of the caller's KILN_ variables but where NVRTC is.
class Program {
 public:
  Program();

  Finished run(const std::vector<std::string>& arguments) const { return run(arguments, {}); }
  /// The program's standard output goes to `out_file` instead, or is one of the two below.
  Finished run(const std::vector<std::string>& arguments, const std::string& out_file) const;

  /// Sends `signal` as soon as `ready` is true, which must be before the program ends; looked at a thousand times a
  /// second.
  Finished run_and_stop(const std::vector<std::string>& arguments, int signal,
                        const std::function<bool()>& ready) const;

  void set(const std::string& name, const std::string& value) { environment_[name] = value; }
  void unset(const std::string& name) { environment_.erase(name); }
  /// From now on there is no NVRTC to be found.
  void hide_nvrtc() { set("KILN_NVRTC", "/nonexistent/libnvrtc.so"); }
  bool has_nvrtc() const;

  const TempDir& home() const { return home_; }
  /// Writes a file into the home; its path.
  std::string file(const std::string& name, std::string_view content) const;
  /// Rows of the user cache, as `stats` counts them.
  std::uint64_t entries() const;

 private:
  struct Running;
  Running start(const std::vector<std::string>& arguments, const std::string& out_file) const;
  static Finished finish(const Running& running);

  TempDir home_;
  std::map<std::string, std::string> environment_;
};

/// A path of the source tree.
std::string source_path(const std::string& path);

/// A template with a list, a real and a type.
inline constexpr const char* k_lookup_template = R"(// kiln: parameter table: u16[]
// kiln: parameter factor: f32 = 1.0
// kiln: parameter element: type
// kiln: entry lookup
#include "kiln/values.h"
__global__ void lookup(kiln::element* y, const kiln::element* x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[kiln::table[i % (sizeof(kiln::table) / sizeof(kiln::table[0]))]] * kiln::factor;
  }
}
)";

}  // namespace kiln::test
