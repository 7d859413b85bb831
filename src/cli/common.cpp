#include "cli/common.hpp"

#include <iostream>

namespace kiln::cli {

void add_common(CLI::App& command, Common& common) {
  command.add_option("--cache", common.cache, "Directory of the user cache, instead of $KILN_CACHE_DIR")
      ->type_name("DIR");
  command.add_flag("--json", common.json, "Print JSON, one object a line");
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

CLI::Option* add_repeated(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                          const std::string& help) {
  return command.add_option(name, values, help)->allow_extra_args(false);
}

CLI::Option* add_targets(CLI::App& command, std::vector<std::string>& targets) {
  return add_repeated(command, "--target", targets,
                      "Architecture: sm_90, sm_90a, sm_100f (a cubin), compute_90 (PTX) or native; may be repeated")
      ->type_name("T");
}

std::vector<Target> parse_targets(const std::vector<std::string>& texts) {
  std::vector<Target> targets;
  for (const std::string& text : texts) {
    targets.push_back(as_usage([&] { return Target::parse(text); }));
  }
  return targets;
}

}  // namespace kiln::cli
