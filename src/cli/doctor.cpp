#include "kiln/doctor.hpp"

#include <algorithm>

#include "cli/common.hpp"
#include "cli/json_line.hpp"

namespace kiln::cli {

namespace {

struct Arguments {
  Common common;
};

const char* name_of(Health health) {
  switch (health) {
    case Health::good:
      return "good";
    case Health::missing:
      return "missing";
    case Health::bad:
      return "bad";
  }
  return "";
}

void print(const Finding& finding, Output& out) {
  out.line(std::string(name_of(finding.health)) + "  " + finding.name + ": " + finding.summary);
  for (const std::string& place : finding.looked_in) {
    out.line("      looked in " + place);
  }
  if (!finding.remedy.empty()) {
    out.line("      do: " + finding.remedy);
  }
}

/// A build host has neither driver nor GPU and is in order; it is not without a compiler, nor is anything broken.
bool is_in_order(const Finding& finding) {
  return finding.health == Health::good || (finding.health == Health::missing && finding.name != "nvrtc");
}

ExitCode run(const Arguments& arguments, Output& out) {
  std::vector<Finding> findings = diagnose(plain_options(arguments.common));
  for (const Finding& finding : findings) {
    if (arguments.common.json) {
      print_json(out, {{"name", finding.name},
                       {"health", name_of(finding.health)},
                       {"summary", finding.summary},
                       {"looked_in", finding.looked_in},
                       {"remedy", finding.remedy}});
    } else {
      print(finding, out);
    }
  }
  return std::ranges::all_of(findings, is_in_order) ? k_done : k_environment;
}

}  // namespace

void add_doctor(CLI::App& app, Command& chosen) {
  add_command<Arguments>(
      app, chosen, "doctor",
      "Show which NVRTC, driver, GPUs and cache layers Kiln finds, and what to do where it does not. "
      "Exits 3 when NVRTC is missing or anything is broken; a build host needs no driver and no GPU",
      "  kiln doctor\n  kiln doctor --json\n", run);
}

}  // namespace kiln::cli
