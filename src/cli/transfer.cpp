// `export` and `import`: two directions of one thing.
#include "cli/common.hpp"
#include "cli/damage.hpp"
#include "cli/human.hpp"
#include "cli/interruption.hpp"
#include "cli/output_place.hpp"

namespace kiln::cli {

namespace {

struct ExportArguments {
  Common common;
  std::string file;
};

struct ImportArguments {
  Common common;
  std::vector<std::string> files;
};

/// `done` says in words what was: "exported 2 kernels".
ExitCode report(const TransferResult& result, const Common& common, const std::string& done, const std::string& remedy,
                Output& out) {
  if (common.json) {
    print_json(out, {{"entries", result.entries}, {"present", result.present}, {"damage", to_json(result.damage)}});
  } else {
    print(result.damage, out);
    out.line(done + ", left out " + std::to_string(result.damage.size()) + " damaged");
  }
  return is_left(result.damage, out, remedy) ? k_failed : k_done;
}

ExitCode run_export(const ExportArguments& arguments, Output& out) {
  const ServiceOptions options = cache_options(arguments.common, Layers::user);
  require_free_place(arguments.file, options);
  std::filesystem::path file = through_links(arguments.file);
  TidyOnSignal tidy(unfinished_pack(file));
  TransferResult result = export_cache(options, file);
  return report(result, arguments.common, "exported " + human_count(result.entries, "kernel"),
                "it was left out; try `kiln verify --repair`", out);
}

ExitCode run_import(const ImportArguments& arguments, Output& out) {
  std::vector<std::filesystem::path> files(arguments.files.begin(), arguments.files.end());
  TransferResult result = import_cache(cache_options(arguments.common, Layers::user), files);
  std::string done =
      "imported " + human_count(result.entries, "kernel") + ", " + std::to_string(result.present) + " present";
  return report(result, arguments.common, done, "it was left out; make the file anew where it is from", out);
}

}  // namespace

void add_export(CLI::App& app, Command& chosen) {
  auto [syntax, arguments] = add_command<ExportArguments>(
      app, chosen, "export", "Write the user cache to a file that `import` and KILN_PACKS take",
      "  kiln export kernels.kilnpack\n"
      "The same kernels give the same bytes.\n",
      run_export);
  syntax.required("file", arguments->file, "FILE", "The file; a pack that is there is replaced, nothing else")
      .pack("file");
}

void add_import(CLI::App& app, Command& chosen) {
  auto [syntax, arguments] = add_command<ImportArguments>(
      app, chosen, "import", "Add the kernels of exports and packs to the user cache, each verified",
      "  kiln import one.kilnpack two.kilnpack\n", run_import);
  syntax.rest("files", arguments->files, "FILE", "Exports or packs").path("files");
}

}  // namespace kiln::cli
