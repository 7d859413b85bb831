#include <string>

#include "c_api/handles.hpp"
#include "kiln/plan.hpp"

using kiln::c_api::read_struct;
using kiln::c_api::required;
using kiln::c_api::required_path;
using kiln::c_api::required_text;

namespace {

kiln::PrecompileOptions options_of(const kiln_precompile_options& given) {
  kiln::PrecompileOptions options;
  for (std::size_t i = 0; i < given.target_count; ++i) {
    required(given.targets, "options->targets");
    options.targets.push_back(kiln::Target::parse(required_text(given.targets[i], "options->targets")));
  }
  options.output = required_path(given.output, "options->output");
  options.jobs = given.jobs;
  if (given.nvrtc != nullptr) {
    options.nvrtc = given.nvrtc;
  }
  return options;
}

std::string log_of(const kiln::PrecompileResult& result) {
  std::string log;
  for (const kiln::PrecompileFailure& failure : result.failures) {
    log += failure.label + " for " + failure.target.text() + ": " + failure.message + "\n";
  }
  return log;
}

}  // namespace

kiln_status kiln_precompile(const kiln_precompile_options* options, kiln_precompile_result* result,
                            kiln_error** error) {
  return kiln::c_api::guarded(error, [&] {
    const kiln_precompile_options given = read_struct(options, "options");
    if (result != nullptr) {
      kiln::c_api::check_struct_size(result, "result");  // not only when all is compiled
    }
    const std::string plan = required_path(given.plan, "options->plan");
    const kiln::PrecompileOptions parsed = options_of(given);
    const kiln::PrecompileResult done = kiln::precompile(kiln::Plan::read(plan, parsed.targets), parsed);
    if (result != nullptr) {
      kiln_precompile_result counts{};
      counts.total = done.progress.total;
      counts.compiled = done.progress.compiled;
      counts.present = done.progress.present;
      counts.failed = done.progress.failed;
      kiln::c_api::write_struct(result, counts, "result");
    }
    if (!done.failures.empty()) {
      throw kiln::c_api::LoggedError(
          kiln::ErrorCode::compile_failed,
          std::to_string(done.failures.size()) + " of the plan's kernels failed: see the log", log_of(done));
    }
  });
}
