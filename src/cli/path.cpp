#include "cli/common.hpp"
#include "cli/json_line.hpp"

namespace kiln::cli {

namespace {

struct Arguments {
  Common common;
};

const char* name_of(CacheMode mode) {
  switch (mode) {
    case CacheMode::read_write:
      return "rw";
    case CacheMode::read_only:
      return "ro";
    case CacheMode::off:
      return "off";
  }
  return "";
}

ExitCode run(const Arguments& arguments, Output& out) {
  ServiceOptions options = cache_options(arguments.common, Layers::user);
  if (arguments.common.json) {
    Json packs = Json::array();
    const ServiceOptions all = plain_options(arguments.common);
    for (const std::filesystem::path& pack : all.packs) {
      packs.push_back(pack.string());
    }
    print_json(
        out,
        {{"path", options.cache_dir->string()}, {"mode", name_of(options.cache_mode)}, {"packs", std::move(packs)}});
    return k_done;
  }
  out.line(options.cache_dir->string());
  return k_done;
}

}  // namespace

void add_path(CLI::App& app, Command& chosen) {
  add_command<Arguments>(app, chosen, "path", "Print the user cache's directory",
                         "  kiln path\n  du -sh \"$(kiln path)\"\n", run);
}

}  // namespace kiln::cli
