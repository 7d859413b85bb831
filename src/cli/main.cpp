#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>

#include "cli/common.hpp"
#include "kiln/quote.hpp"

namespace kiln::cli {

namespace {

/// Of CLI11, which repeats values as they are.
constexpr std::size_t k_longest_message = 1000;

ExitCode complain(ExitCode code, const std::string& message) {
  std::string text = printable(message);
  text.erase(text.find_last_not_of('\n') + 1);  // a compiler's log ends in one
  std::cerr << "kiln: " + text + "\n";
  return code;
}

/// What was known before something went wrong is told before that is.
ExitCode perform(const Command& command, Output& out) {
  try {
    ExitCode code = command(out);
    out.flush();
    return code;
  } catch (const OutputError&) {
    throw;
  } catch (...) {
    try {
      out.flush();
    } catch (const OutputError&) {  // what went wrong first is told
    }
    throw;
  }
}

/// Everything that can go wrong ends here, as one message and one exit code.
ExitCode carry_out(const Command& command) {
  Output out;
  try {
    return perform(command, out);
  } catch (const OutputError& error) {
    return error.reader_left() ? k_failed : complain(k_failed, error.what());
  } catch (const UsageError& error) {
    return complain(k_usage, error.what());
  } catch (const Error& error) {
    return complain(exit_code_of(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return complain(k_failed, "out of memory");
  } catch (const std::exception& error) {
    return complain(k_failed, error.what());
  }
}

/// Help goes to standard output; what cannot be understood to standard error, in one line.
ExitCode report(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    return carry_out([&](Output& out) {
      std::ostringstream text;
      app.exit(error, text, text);
      out.write(text.str());
      return k_done;
    });
  }
  std::string command = "kiln";
  const CLI::App* chosen = &app;
  while (!chosen->get_subcommands().empty()) {
    chosen = chosen->get_subcommands().front();
    command += " " + chosen->get_name();
  }
  // A misspelt option is why another is missing, or a value is in the wrong place: it comes first. Behind -- is none.
  std::vector<std::string> rest = app.remaining(true);
  auto options_end = std::ranges::find(rest, "--");
  auto unknown = std::find_if(rest.begin(), options_end,
                              [](const std::string& word) { return word.size() > 1 && word[0] == '-'; });
  std::string message = error.what();
  if (unknown != options_end) {
    std::vector<std::string> before_command = app.remaining(false);
    bool is_early = std::ranges::find(before_command, *unknown) != before_command.end();
    command = is_early ? "kiln" : command;
    message = "there is no option " + one_line(unknown->substr(0, unknown->find('='))) +
              (is_early ? " before a command" : "");
  } else if (chosen->get_require_subcommand_min() > 0 && !rest.empty()) {
    message = "there is no command " + quote(chosen == &app ? rest.front() : chosen->get_name() + " " + rest.front());
  }
  return complain(k_usage, one_line(message, k_longest_message) + " (see " + command + " --help)");
}

/// The words of the command line, last first, as CLI11 takes them. It would take the word after `--name=` for the
/// value.
std::vector<std::string> words_of(int count, char** arguments) {
  std::vector<std::string> words;
  for (int i = 1; i < count; ++i) {
    std::string word = arguments[i];
    bool empty_value = word.starts_with("--") && word.find('=') == word.size() - 1;
    words.push_back(empty_value ? word.substr(0, word.size() - 1) : word);
    if (empty_value) {
      words.emplace_back();
    }
  }
  std::ranges::reverse(words);
  return words;
}

ExitCode run(int count, char** arguments) {
  prepare_standard_streams();
  CLI::App app("Bakes run-time values into CUDA kernels, compiles them once and keeps them.", "kiln");
  app.set_version_flag("--version", KILN_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done, 1 failed, 2 usage, 3 something is missing (NVRTC, driver, GPU). See docs/cli.md.");
  Command chosen;
  for (auto add : {add_permute, add_compile, add_precompile, add_query, add_show, add_explain, add_stats, add_path,
                   add_verify, add_trim, add_export, add_import, add_clear, add_doctor}) {
    add(app, chosen);
  }
  try {
    app.parse(words_of(count, arguments));
  } catch (const CLI::ParseError& error) {
    return report(app, error);
  }
  return carry_out(chosen);
}

}  // namespace

}  // namespace kiln::cli

int main(int count, char** arguments) {
  try {
    return kiln::cli::run(count, arguments);
  } catch (const std::exception& error) {
    std::cerr << "kiln: " << error.what() << "\n";
    return kiln::cli::k_failed;
  }
}
