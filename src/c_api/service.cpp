#include <cstdint>

#include "c_api/handles.hpp"

using kiln::c_api::created;
using kiln::c_api::guarded;
using kiln::c_api::required;
using kiln::c_api::target_of;
using kiln::c_api::values_of;

kiln_status kiln_service_create(const kiln_options* options, kiln_service** out, kiln_error** error) {
  return created(out, error, [&] {
    return kiln::Service(options == nullptr ? kiln::ServiceOptions::from_environment() : options->value);
  });
}

void kiln_service_free(kiln_service* service) { delete service; }

kiln_status kiln_service_get(const kiln_service* service, const kiln_template* tmpl, const kiln_values* values,
                             const char* target, kiln_kernel** out, kiln_error** error) {
  return created(out, error, [&] {
    return required(service, "service").value.get(required(tmpl, "tmpl").value, values_of(values), target_of(target));
  });
}

kiln_status kiln_service_find_or_compile(const kiln_service* service, const kiln_template* tmpl,
                                         const kiln_values* values, const char* target, kiln_artifact** out,
                                         kiln_error** error) {
  return created(out, error, [&] {
    return required(service, "service")
        .value.find_or_compile(required(tmpl, "tmpl").value, values_of(values), target_of(target));
  });
}

kiln_status kiln_service_find(const kiln_service* service, const kiln_template* tmpl, const kiln_values* values,
                              const char* target, kiln_artifact** out, kiln_error** error) {
  return guarded(error, [&] {
    required(out, "out") = nullptr;
    kiln::Lookup lookup =
        required(service, "service").value.find(required(tmpl, "tmpl").value, values_of(values), target_of(target));
    if (lookup.artifact != nullptr) {
      *out = new kiln_artifact{std::move(lookup)};
    }
  });
}

kiln_status kiln_service_clear(const kiln_service* service, uint64_t* removed, kiln_error** error) {
  return guarded(error, [&] {
    const std::uint64_t count = required(service, "service").value.clear();
    if (removed != nullptr) {
      *removed = count;
    }
  });
}

kiln_status kiln_service_stats(const kiln_service* service, kiln_stats* stats, kiln_error** error) {
  return guarded(error, [&] {
    const kiln::Stats now = required(service, "service").value.stats();
    kiln_stats given{};
    given.memory_hits = now.memory_hits;
    given.hits = now.hits;
    given.misses = now.misses;
    given.compiles = now.compiles;
    given.compile_failures = now.compile_failures;
    given.puts = now.puts;
    given.puts_lost = now.puts_lost;
    given.corrupt_dropped = now.corrupt_dropped;
    given.evicted = now.evicted;
    given.degraded = now.degraded;
    given.max_bytes = now.max_bytes;
    given.loaded = now.loaded;
    for (const kiln::LayerStats& layer : now.layers) {
      given.entries += layer.entries;
      given.bytes += layer.bytes;
    }
    kiln::c_api::write_struct(stats, given, "stats");
  });
}
