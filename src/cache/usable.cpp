#include "cache/pack_layer.hpp"
#include "cache/user_database.hpp"
#include "kiln/error.hpp"
#include "kiln/maintenance.hpp"

namespace kiln {

void require_usable(const ServiceOptions& options) {
  for (const auto& pack : options.packs) {
    cache::open_pack(pack);
  }
  if (!options.packs.empty() && !cache::has_user_database(options)) {
    return;
  }
  const auto file = cache::user_database_file(options);
  try {
    cache::open_user_database(options, cache::Purpose::look);
  } catch (const cache::SqliteError& error) {
    const bool damaged = error.fault() == cache::SqliteFault::content;
    throw StoreError(file.string(), std::string(error.what()) + (damaged ? "; try `kiln verify --repair`" : ""));
  }
}

}  // namespace kiln
