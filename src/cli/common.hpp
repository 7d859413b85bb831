#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "kiln/service.hpp"
#include "kiln/target.hpp"

namespace kiln::cli {

/// A command line that was understood, ready to be carried out.
using Command = std::function<ExitCode(Output&)>;

/// What every command takes.
struct Common {
  std::string cache;
  bool json = false;
};

void add_common(CLI::App& command, Common& common);

/// The environment's options changed by the command line's; warnings go to standard error.
ServiceOptions service_options(const Common& common);

/// `--target`, any number of times; each takes one value.
CLI::Option* add_targets(CLI::App& command, std::vector<std::string>& targets);
/// Throws UsageError for a malformed one.
std::vector<Target> parse_targets(const std::vector<std::string>& texts);

/// An option that may be given any number of times and takes one value each time.
CLI::Option* add_repeated(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                          const std::string& help);

/// Adds a subcommand whose arguments live in an `Arguments` that `run` is called with.
template <typename Arguments>
std::shared_ptr<Arguments> add_command(CLI::App& app, Command& chosen, const std::string& name, const std::string& help,
                                       const std::string& examples, ExitCode (*run)(const Arguments&, Output&),
                                       CLI::App*& command) {
  auto arguments = std::make_shared<Arguments>();
  command = app.add_subcommand(name, help);
  command->footer("Examples:\n" + examples);
  add_common(*command, arguments->common);
  command->callback(
      [arguments, run, &chosen] { chosen = [arguments, run](Output& out) { return run(*arguments, out); }; });
  return arguments;
}

// One per command, each in a file of its name; export and import share transfer.cpp.
void add_permute(CLI::App& app, Command& chosen);
void add_compile(CLI::App& app, Command& chosen);
void add_precompile(CLI::App& app, Command& chosen);
void add_query(CLI::App& app, Command& chosen);
void add_show(CLI::App& app, Command& chosen);
void add_explain(CLI::App& app, Command& chosen);
void add_stats(CLI::App& app, Command& chosen);
void add_path(CLI::App& app, Command& chosen);
void add_clear(CLI::App& app, Command& chosen);
void add_verify(CLI::App& app, Command& chosen);
void add_trim(CLI::App& app, Command& chosen);
void add_export(CLI::App& app, Command& chosen);
void add_import(CLI::App& app, Command& chosen);
void add_doctor(CLI::App& app, Command& chosen);

}  // namespace kiln::cli
