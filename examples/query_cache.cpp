// What is in the cache, from C++. `kiln query` and any SQLite tool (the view `kernels`) tell the same.
#include "gpu_or_cpu.hpp"
#include "kiln/permuter.hpp"

int main(int count, char** arguments) {
  return example::run([&] {
    kiln::ServiceOptions options = kiln::ServiceOptions::from_environment();
    if (count > 1) {
      options.cache_dir = arguments[1];
    }
    kiln::Service service(options);
    for (const char* indices : {"2,1,0", "3,2,1,0"}) {
      kiln::Target target = kiln::Target::parse("sm_90");
      kiln::PermuteRequest request = kiln::plan_permute(kiln::IndexMap::parse(indices, "map"), {}, target);
      kiln::Lookup found = service.find_or_compile(request.tmpl, request.values, target);
      std::printf("%s: %s in %.0f us\n", indices, kiln::name_of(found.outcome), found.lookup_us);
    }

    kiln::Query query;
    query.target = kiln::Target::parse("sm_90");
    query.order = kiln::QueryOrder::image_bytes;
    std::uint64_t entries = 0;
    service.query(query, [&](const kiln::Entry& entry) {
      std::printf("%s  %s  %s  %llu bytes  %s\n", entry.key.text().c_str(), entry.template_name.c_str(),
                  entry.target.text().c_str(), static_cast<unsigned long long>(entry.image_bytes),
                  entry.compiler.text().c_str());
      ++entries;
      return true;  // false would stop here
    });
    kiln::Stats stats = service.stats();
    std::printf("hits %llu, misses %llu, compiles %llu\n", static_cast<unsigned long long>(stats.hits),
                static_cast<unsigned long long>(stats.misses), static_cast<unsigned long long>(stats.compiles));
    return entries >= 2;
  });
}
