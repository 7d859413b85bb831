#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/syntax.hpp"
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

/// The environment's options changed by the command line's, with nothing logged: for commands that tell all that is
/// wrong themselves.
ServiceOptions plain_options(const Common& common);
/// For commands that compile: the environment's options changed by the command line's. Warnings go to standard error,
/// also that there is no cache and the command goes on from memory.
ServiceOptions service_options(const Common& common);

/// The layers that a command is about.
enum class Layers { user, all };
/// For commands that are about the cache itself. A cache that is not there yet is an empty one. One that cannot be used
/// is their error, told once: so nothing is logged. Throws StoreError, or Error{invalid_argument} where there is none.
ServiceOptions cache_options(const Common& common, Layers layers);

/// `--target`, any number of times; `native` is one of them unless a named one is needed.
void add_targets(Syntax& syntax, std::vector<std::string>& targets, bool native = true);
/// Throws Error{invalid_argument} for a malformed one, and for native, naming what to do.
Target parse_named_target(const std::string& text);
/// Each once. Throws UsageError for a malformed one.
std::vector<Target> parse_targets(const std::vector<std::string>& texts);
/// The same target given twice is meant once.
std::vector<Target> each_once(const std::vector<Target>& targets);

/// Adds a subcommand with the arguments that every command takes. `run` is what it does.
Syntax add_command(CLI::App& app, Command& chosen, const std::string& name, const std::string& help,
                   const std::string& examples, Common& common, Command run);

/// The same for a command whose arguments are an `Arguments`, with its `common`, that `run` is called with.
template <typename Arguments>
std::pair<Syntax, std::shared_ptr<Arguments>> add_command(CLI::App& app, Command& chosen, const std::string& name,
                                                          const std::string& help, const std::string& examples,
                                                          ExitCode (*run)(const Arguments&, Output&)) {
  auto arguments = std::make_shared<Arguments>();
  Syntax syntax = add_command(app, chosen, name, help, examples, arguments->common,
                              [arguments, run](Output& out) { return run(*arguments, out); });
  return {syntax, arguments};
}

/// A subcommand that only has subcommands.
CLI::App& add_group(CLI::App& app, const std::string& name, const std::string& help, const std::string& examples);

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
