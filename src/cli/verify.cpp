#include <algorithm>

#include "cli/common.hpp"
#include "cli/damage.hpp"
#include "cli/human.hpp"

namespace kiln::cli {

namespace {

struct Arguments {
  Common common;
  bool repair = false;
};

ExitCode run(const Arguments& arguments, Output& out) {
  VerifyResult result = verify(plain_options(arguments.common), arguments.repair);
  if (arguments.common.json) {
    print_json(out, {{"checked", result.checked}, {"damage", to_json(result.damage)}});
  } else {
    print(result.damage, out);
    out.line("checked " + human_count(result.checked, "kernel") + ", found " + std::to_string(result.damage.size()) +
             " damaged");
  }
  return std::ranges::all_of(result.damage, &Damage::repaired) ? k_done : k_failed;
}

}  // namespace

void add_verify(CLI::App& app, Command& chosen) {
  auto [syntax, arguments] = add_command<Arguments>(
      app, chosen, "verify", "Check every kernel of the cache and its packs. Exits 1 when damage is left",
      "  kiln verify\n"
      "  kiln verify --repair\n",
      run);
  syntax.flag("--repair", arguments->repair, "Drop damaged kernels of the user cache; packs are never changed");
}

}  // namespace kiln::cli
