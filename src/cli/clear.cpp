#include "cli/common.hpp"
#include "cli/human.hpp"
#include "cli/json_line.hpp"

namespace kiln::cli {

namespace {

struct Arguments {
  Common common;
};

ExitCode run(const Arguments& arguments, Output& out) {
  std::uint64_t removed = Service(cache_options(arguments.common, Layers::user)).clear();
  if (arguments.common.json) {
    print_json(out, {{"removed", removed}});
  } else {
    out.line("removed " + human_count(removed, "kernel"));
  }
  return k_done;
}

}  // namespace

void add_clear(CLI::App& app, Command& chosen) {
  add_command<Arguments>(app, chosen, "clear", "Remove every kernel of the user cache; packs stay",
                         "  kiln clear\n  kiln clear --cache /tmp/kiln\n", run);
}

}  // namespace kiln::cli
