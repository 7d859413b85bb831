#include <unistd.h>

#include <chrono>
#include <iostream>
#include <optional>
#include <set>
#include <vector>

#include "cli/common.hpp"
#include "cli/interruption.hpp"
#include "cli/json_line.hpp"
#include "cli/output_place.hpp"
#include "kiln/plan.hpp"

namespace kiln::cli {

namespace {

constexpr std::uint64_t k_most_jobs = 4096;

struct Arguments {
  Common common;
  std::string plan;
  std::vector<std::string> targets;
  std::string output;
  std::optional<std::uint64_t> jobs;
};

std::string counts(const PrecompileProgress& progress) {
  return std::to_string(progress.done) + "/" + std::to_string(progress.total) +
         " kernels: " + std::to_string(progress.compiled) + " compiled, " + std::to_string(progress.present) +
         " present, " + std::to_string(progress.failed) + " failed";
}

/// Shows progress on standard error: a bar that is drawn over on a terminal, a line every two seconds elsewhere.
class ProgressDisplay {
 public:
  explicit ProgressDisplay(bool terminal) : terminal_(terminal) {}

  void show(const PrecompileProgress& progress) {
    auto now = Clock::now();
    bool last = progress.done == progress.total;
    if (!last && now - shown_ < (terminal_ ? k_redraw : k_line)) {
      return;
    }
    shown_ = now;
    if (!terminal_) {
      std::cerr << counts(progress) + "\n";
      return;
    }
    std::size_t filled = progress.total == 0 ? k_width : k_width * progress.done / progress.total;
    std::string bar = std::string(filled, '#') + std::string(k_width - filled, '.');
    std::cerr << "\r[" + bar + "] " + counts(progress) + "\x1b[K" + (last ? "\n" : "") << std::flush;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds k_redraw{100};
  static constexpr std::chrono::milliseconds k_line{2000};
  static constexpr std::size_t k_width = 30;

  bool terminal_;
  Clock::time_point shown_{};
};

void print(const PrecompileResult& result, const Arguments& arguments, Output& out) {
  const PrecompileProgress& progress = result.progress;
  std::error_code error;
  const bool is_there = std::filesystem::exists(arguments.output, error);  // not when all failed and none was before
  if (!arguments.common.json) {
    for (const PrecompileFailure& failure : result.failures) {
      std::cerr << "kiln: " + failure.label + " for " + failure.target.text() + ": " + failure.message + "\n";
    }
    out.line(counts(progress) + (is_there ? ", in " + arguments.output : ", no pack was made"));
    return;
  }
  Json failures = Json::array();
  for (const PrecompileFailure& failure : result.failures) {
    failures.push_back({{"label", failure.label}, {"target", failure.target.text()}, {"message", failure.message}});
  }
  print_json(out, {{"output", is_there ? Json(arguments.output) : Json(nullptr)},
                   {"total", progress.total},
                   {"compiled", progress.compiled},
                   {"present", progress.present},
                   {"failed", progress.failed},
                   {"failures", std::move(failures)}});
}

std::string how_to_go_on(const std::filesystem::path& output) {
  std::string partial = output.string() + ".partial";
  std::error_code error;
  return std::filesystem::exists(partial, error)
             ? "what was compiled is kept in " + partial + ": the same command goes on from there"
             : "nothing was compiled so far";
}

ExitCode run(const Arguments& arguments, Output& out) {
  PrecompileOptions options;
  options.targets = parse_targets(arguments.targets);
  Plan plan = Plan::read(arguments.plan, options.targets);
  ServiceOptions environment = plain_options(arguments.common);
  environment.packs.clear();  // one of them may be what is written
  require_free_place(arguments.output, environment);
  std::set<std::filesystem::path> headers;
  for (const PlanItem& item : plan.items) {
    headers.insert(item.tmpl.header_files().begin(), item.tmpl.header_files().end());
  }
  require_no_header(arguments.output, std::vector(headers.begin(), headers.end()));
  options.output = through_links(arguments.output);
  options.jobs = static_cast<unsigned>(arguments.jobs.value_or(0));
  options.nvrtc = environment.nvrtc;
  ProgressDisplay display(is_terminal(STDERR_FILENO));
  if (!arguments.common.json) {
    options.progress = [&](const PrecompileProgress& progress) { display.show(progress); };
  }
  TidyOnSignal tidy(unfinished_pack(options.output), [&] { return "stopped; " + how_to_go_on(options.output); });
  PrecompileResult result = precompile(plan, options);
  print(result, arguments, out);
  return result.failures.empty() ? k_done : k_failed;
}

}  // namespace

void add_precompile(CLI::App& app, Command& chosen) {
  auto [syntax, arguments] = add_command<Arguments>(
      app, chosen, "precompile", "Compile a plan for many targets into a pack; needs no GPU and no driver",
      "  kiln precompile plan.json --target sm_80 --target sm_90a -o kernels.kilnpack -j 8\n"
      "  KILN_PACKS=kernels.kilnpack KILN_STRICT=1 ./application\n"
      "A run that was stopped can be started again: what is in the pack already is skipped.\n",
      run);
  syntax.required("plan", arguments->plan, "PLAN.json", "What to compile (docs/plan-format.md)")
      .required("-o", arguments->output, "FILE.kilnpack", "The pack: made, or added to if it is there")
      .number("-j", arguments->jobs, "N", "Compiles at a time; default: the CPUs this process may use", 1, k_most_jobs)
      .path("plan")
      .pack("-o");
  add_targets(syntax, arguments->targets, false);
}

}  // namespace kiln::cli
