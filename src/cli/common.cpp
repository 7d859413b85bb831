#include "cli/common.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <utility>

namespace kiln::cli {

Syntax add_command(CLI::App& app, Command& chosen, const std::string& name, const std::string& help,
                   const std::string& examples, Common& common, Command run) {
  CLI::App* command = app.add_subcommand(name, help);
  command->footer("Examples:\n" + examples);
  command->callback([run = std::move(run), &chosen] { chosen = run; });
  Syntax syntax(*command);
  syntax.text("--cache", common.cache, "DIR", "Directory of the user cache, instead of $KILN_CACHE_DIR")
      .flag("--json", common.json, "Print JSON, one object a line");
  return syntax;
}

CLI::App& add_group(CLI::App& app, const std::string& name, const std::string& help, const std::string& examples) {
  CLI::App* group = app.add_subcommand(name, help);
  group->require_subcommand(1);
  group->footer("Examples:\n" + examples);
  return *group;
}

ServiceOptions service_options(const Common& common) {
  ServiceOptions options = as_usage([] { return ServiceOptions::from_environment(); });
  if (!common.cache.empty()) {
    options.cache_dir = common.cache;
  }
  options.log = [](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) {
      std::cerr << "kiln: warning: " + std::string(message) + "\n";
    }
  };
  return options;
}

void add_targets(Syntax& syntax, std::vector<std::string>& targets) {
  syntax.repeated("--target", targets, "T",
                  "Architecture: sm_90, sm_90a, sm_100f (a cubin), compute_90 (PTX) or native; may be repeated");
}

std::vector<Target> parse_targets(const std::vector<std::string>& texts) {
  std::vector<Target> targets;
  for (const std::string& text : texts) {
    targets.push_back(as_usage([&] { return Target::parse(text); }));
  }
  return targets;
}

}  // namespace kiln::cli
