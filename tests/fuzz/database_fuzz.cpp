// Any bytes as a pack and as a user database: at worst a miss.
#include <sys/stat.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cache/layered_store.hpp"
#include "kiln/error.hpp"
#include "kiln/maintenance.hpp"
#include "support/files.hpp"
#include "support/sample_artifact.hpp"
#include "support/temp_dir.hpp"

namespace {

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void look_up(kiln::cache::LayeredStore& store, std::uint64_t number) {
  const auto wanted = kiln::test::sample_artifact(number, 200);
  for (const bool installed : {false, true}) {
    const auto hit = store.get(wanted.key, wanted.spec,
                               [&] { return installed ? kiln::cache::CompilerPolicy(wanted.compiler) : std::nullopt; });
    require(!hit || (hit->artifact.key == wanted.key && hit->artifact.spec == wanted.spec));
  }
  store.contains(wanted.key);
}

void use(kiln::cache::LayeredStore& store) {
  look_up(store, 1);
  look_up(store, 7);
  store.recent_compile_ms("sample.cu");
  try {
    store.query({}, [](const kiln::Entry&) { return true; });
    store.find_by_prefix("");
  } catch (const kiln::StoreError&) {
  }
  kiln::Stats stats;
  store.fill(stats);
}

void use_as_pack(const kiln::test::TempDir& directory, std::string_view bytes) {
  const auto file = directory / "some.kilnpack";
  kiln::test::write_file(file, bytes);
  ::chmod(file.c_str(), 0600);
  kiln::ServiceOptions options;
  options.packs = {file};
  kiln::cache::LayeredStore store(options);
  use(store);
  kiln::verify(options);
}

void use_as_cache(const kiln::test::TempDir& directory, std::string_view bytes) {
  kiln::ServiceOptions options;
  options.cache_dir = directory / "cache";
  options.busy_wait = std::chrono::milliseconds(0);
  std::filesystem::create_directory(*options.cache_dir);
  ::chmod(options.cache_dir->c_str(), 0700);
  const auto file = *options.cache_dir / "kiln.db";
  kiln::test::write_file(file, bytes);
  ::chmod(file.c_str(), 0600);
  {
    kiln::cache::LayeredStore store(options);
    use(store);
    const auto artifact = kiln::test::sample_artifact(100, 200);
    if (store.put(artifact)) {
      const auto hit = store.get(artifact.key, artifact.spec, [] { return std::nullopt; });
      require(!hit || kiln::test::same_artifact(hit->artifact, artifact));
    }
  }
  try {
    kiln::trim(options, {.max_bytes = 10000});
    kiln::verify(options, true);
  } catch (const kiln::StoreError&) {  // of a newer format, say
  }
  std::filesystem::remove_all(*options.cache_dir);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const kiln::test::TempDir directory;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  use_as_pack(directory, bytes);
  use_as_cache(directory, bytes);
  return 0;
}
