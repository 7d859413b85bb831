#include "cli/common.hpp"
#include "cli/entry.hpp"
#include "cli/human.hpp"
#include "kiln/maintenance.hpp"

namespace kiln::cli {

namespace {

struct Arguments {
  Common common;
  std::string max_size;
  std::string unused_for;
  bool dry_run = false;
};

ExitCode run(const Arguments& arguments, Output& out) {
  TrimOptions trim_options;
  if (!arguments.max_size.empty()) {
    trim_options.max_bytes = parse_bytes(arguments.max_size);
  }
  if (!arguments.unused_for.empty()) {
    trim_options.unused_for = std::chrono::seconds(parse_duration(arguments.unused_for));
  }
  if (!trim_options.max_bytes && !trim_options.unused_for) {
    throw UsageError("nothing says what to remove: give --max-size, --unused-for or both (see kiln trim --help)");
  }
  trim_options.dry_run = arguments.dry_run;
  TrimResult result = trim(cache_options(arguments.common, Layers::user), trim_options);
  if (arguments.common.json) {
    Json removed = Json::array();
    for (const Entry& entry : result.removed) {
      removed.push_back(to_json(entry));
    }
    print_json(out, {{"dry_run", arguments.dry_run},
                     {"removed", std::move(removed)},
                     {"bytes_before", result.bytes_before},
                     {"bytes_after", result.bytes_after}});
    return k_done;
  }
  if (arguments.dry_run) {
    EntryPrinter printer(out, false);
    for (const Entry& entry : result.removed) {
      printer.add(entry);
    }
    printer.finish();
  }
  out.line((arguments.dry_run ? "would remove " : "removed ") + human_count(result.removed.size(), "kernel") + ": " +
           human_bytes(result.bytes_before) + " to " + human_bytes(result.bytes_after));
  return k_done;
}

}  // namespace

void add_trim(CLI::App& app, Command& chosen) {
  auto [syntax, arguments] =
      add_command<Arguments>(app, chosen, "trim", "Remove the least recently used kernels of the user cache",
                             "  kiln trim --max-size 512M\n"
                             "  kiln trim --unused-for 30d --dry-run\n",
                             run);
  syntax.text("--max-size", arguments->max_size, "S", "Bring the database down to this: bytes, or with K, M, G, T")
      .text("--unused-for", arguments->unused_for, "D", "Remove what was not used for so long: 12h, 30d, 4w")
      .flag("--dry-run", arguments->dry_run, "Say what would go, and change nothing")
      .check("--max-size", parse_bytes)
      .check("--unused-for", parse_duration);
}

}  // namespace kiln::cli
