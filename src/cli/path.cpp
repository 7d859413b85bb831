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
  ServiceOptions options = service_options(arguments.common);
  if (arguments.common.json) {
    Json packs = Json::array();
    for (const std::filesystem::path& pack : options.packs) {
      packs.push_back(pack.string());
    }
    print_json(out, {{"path", options.cache_dir ? Json(options.cache_dir->string()) : Json(nullptr)},
                     {"mode", name_of(options.cache_mode)},
                     {"packs", std::move(packs)}});
    return k_done;
  }
  if (!options.cache_dir) {
    throw Error(ErrorCode::store_failed,
                "there is no cache directory, kernels are kept in memory only: set KILN_CACHE_DIR or HOME");
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
