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
  const bool tried = arguments.repair;
  return is_left(result.damage, out,
                 tried ? "it could not be repaired: make packs anew with `kiln precompile` or `kiln export`"
                       : "try `kiln verify --repair`, and make packs anew")
             ? k_failed
             : k_done;
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
