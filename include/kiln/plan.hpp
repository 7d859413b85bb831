#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.h"
#include "kiln/service.hpp"
#include "kiln/target.hpp"
#include "kiln/template.hpp"
#include "kiln/value.hpp"

namespace kiln {

/// One kernel of a plan, for each of its targets.
struct PlanItem {
  std::string label;  ///< for progress and failures: "permutation examples/data/rgb_to_bgr.json f32"
  Template tmpl;
  Values values;
  std::vector<Target> targets;  ///< none of them native; empty: those given to `precompile`
};

/// A list of kernels to compile ahead of time; read from JSON (docs/plan-format.md).
struct KILN_EXPORT Plan {
  std::vector<PlanItem> items;
  /// Relative paths in the plan count from the plan's folder. `targets` are for the kernels that name none of their
  /// own: a permutation's template and values depend on the target, so it must have one here or there. They replace
  /// the plan's own "targets". Every value is checked against its template. Throws Error, with the code of whatever
  /// is wrong, naming file, line, field and what is allowed: "plan.json:12: kernels[3].values.table: …".
  static Plan read(const std::filesystem::path& file, const std::vector<Target>& targets = {});
};

struct PrecompileFailure {
  std::string label;
  Target target;
  std::string message;  ///< whole: for a compile error, with the log
};

struct PrecompileProgress {
  std::size_t done = 0;  ///< compiled, present or failed
  std::size_t total = 0;
  std::size_t compiled = 0;
  std::size_t present = 0;  ///< were in the pack already
  std::size_t failed = 0;
};

struct PrecompileResult {
  PrecompileProgress progress;
  std::vector<PrecompileFailure> failures;
};

struct PrecompileOptions {
  std::vector<Target> targets;
  std::filesystem::path output;                             ///< created, or added to if it is a pack
  unsigned jobs = 0;                                        ///< 0: as many as the process may use CPUs
  std::filesystem::path nvrtc;                              ///< as ServiceOptions::nvrtc
  std::function<void(const PrecompileProgress&)> progress;  ///< called from one thread at a time; must not throw
};

/// Compiles `plan` into a pack. Needs neither GPU nor driver. A kernel that does not compile is listed, the others
/// go on; what is in the pack already is skipped, so a run that was stopped can be started again. The pack appears
/// whole or not at all; none is made of nothing, when every kernel fails and there was no pack. Throws StoreError,
/// Error{nvrtc_unavailable, unsupported_target}.
KILN_EXPORT PrecompileResult precompile(const Plan& plan, const PrecompileOptions& options);

}  // namespace kiln
