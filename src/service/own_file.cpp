#include "kiln/own_file.hpp"
#include "cache/quarantine.hpp"
#include "cache/totals_file.hpp"
#include "cache/user_layer.hpp"

namespace kiln {

std::vector<OwnFile> own_files(const ServiceOptions& options) {
  std::vector<OwnFile> files;
  if (options.cache_dir) {
    const std::filesystem::path database = *options.cache_dir / cache::k_database_name;
    files.push_back({database, "where a cache keeps its kernels"});
    for (int number = 1; number <= cache::k_kept_databases; ++number) {
      files.push_back({cache::place_aside(database, number), "where a cache keeps a damaged database"});
    }
    files.push_back({*options.cache_dir / cache::k_totals_name, "where a cache keeps its counters"});
  }
  for (const std::filesystem::path& pack : options.packs) {
    files.push_back({pack, "a pack that KILN_PACKS names"});
  }
  if (!options.record.empty()) {
    files.push_back({options.record, "the plan that KILN_RECORD names"});
  }
  if (!options.nvrtc.empty()) {
    files.push_back({options.nvrtc, "the compiler that KILN_NVRTC names"});
  }
  return files;
}

}  // namespace kiln
