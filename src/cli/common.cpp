#include "cli/common.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <utility>

#include "kiln/maintenance.hpp"
#include "kiln/quote.hpp"

namespace kiln::cli {

namespace {

void warn(const std::string& message) { std::cerr << "kiln: warning: " + printable(message) + "\n"; }

}  // namespace

Syntax add_command(CLI::App& app, Command& chosen, const std::string& name, const std::string& help,
                   const std::string& examples, Common& common, Command run) {
  CLI::App* command = app.add_subcommand(name, help);
  command->footer("Examples:\n" + examples);
  command->callback([run = std::move(run), &chosen] { chosen = run; });
  Syntax syntax(*command);
  syntax.text("--cache", common.cache, "DIR", "Directory of the user cache, instead of $KILN_CACHE_DIR")
      .path("--cache")
      .flag("--json", common.json, "Print JSON, one object a line");
  return syntax;
}

CLI::App& add_group(CLI::App& app, const std::string& name, const std::string& help, const std::string& examples) {
  CLI::App* group = app.add_subcommand(name, help);
  group->require_subcommand(1);
  group->footer("Examples:\n" + examples);
  return *group;
}

ServiceOptions plain_options(const Common& common) {
  ServiceOptions options = as_usage([] { return ServiceOptions::from_environment(); });
  if (!common.cache.empty()) {
    options.cache_dir = common.cache;
  }
  return options;
}

ServiceOptions service_options(const Common& common) {
  ServiceOptions options = plain_options(common);
  options.log = [](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) {
      warn(std::string(message));
    }
  };
  return options;
}

ServiceOptions cache_options(const Common& common, Layers layers) {
  ServiceOptions options = plain_options(common);
  if (layers == Layers::user) {
    options.packs.clear();
  }
  require_usable(options);
  return options;
}

void add_targets(Syntax& syntax, std::vector<std::string>& targets, bool native) {
  syntax
      .repeated("--target", targets, "T",
                std::string("Architecture: sm_90, sm_90a, sm_100f (a cubin), ") +
                    (native ? "compute_90 (PTX) or native" : "or compute_90 (PTX)") + "; may be repeated")
      .check("--target",
             [native](const std::string& text) { native ? Target::parse(text) : parse_named_target(text); });
}

Target parse_named_target(const std::string& text) {
  Target target = Target::parse(text);
  if (target.is_native()) {
    throw Error(
        ErrorCode::invalid_argument,
        "'native' is this machine's GPU, which is not asked for here: name the architecture, for example sm_90");
  }
  return target;
}

std::vector<Target> parse_targets(const std::vector<std::string>& texts) {
  std::vector<Target> targets;
  for (const std::string& text : texts) {
    targets.push_back(as_usage([&] { return Target::parse(text); }));
  }
  return each_once(targets);
}

std::vector<Target> each_once(const std::vector<Target>& targets) {
  std::vector<Target> once;
  for (const Target& target : targets) {
    if (std::ranges::find(once, target) == once.end()) {
      once.push_back(target);
    }
  }
  return once;
}

}  // namespace kiln::cli
