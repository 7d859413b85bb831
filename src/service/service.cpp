// The request path. `Service::get` goes straight down this file:
//   make_request → loaded_kernels → load → find_or_compile → find_in_memory / find_in_layers / compile.
#include "kiln/service.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "cache/lease.hpp"
#include "cache/spec.hpp"
#include "jit/library.hpp"
#include "service/service_state.hpp"
#include "support/wall_clock.hpp"

namespace kiln {

namespace {

using Clock = service::Clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

bool is_for(const Artifact& artifact, const service::Request& request) { return artifact.spec == request.spec; }

/// No two compiles of a key end in the same second and take equally long.
bool is_same_compile(const Artifact& a, const Artifact& b) {
  return a.created == b.created && a.compile_ms == b.compile_ms;
}

/// How long to wait for another process that compiles this key: many times what such compiles took of late, so that a
/// holder that stalled costs little, within what the options allow.
std::chrono::milliseconds lease_wait(std::chrono::milliseconds most, std::optional<double> recent_compile_ms) {
  constexpr double k_patience = 20.0;
  constexpr std::chrono::milliseconds k_least{5000};
  if (!recent_compile_ms) {
    return most;
  }
  // Compared as reals: the time comes from a database and may be absurd.
  double wait = std::max(static_cast<double>(k_least.count()), k_patience * *recent_compile_ms);
  return wait < static_cast<double>(most.count()) ? std::chrono::milliseconds(static_cast<std::int64_t>(wait)) : most;
}

}  // namespace

const char* name_of(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::compiled:
      return "compiled";
    case Outcome::memory:
      return "memory";
    case Outcome::disk:
      return "disk";
    case Outcome::pack:
      return "pack";
    case Outcome::miss:
      return "miss";
  }
  return "unknown";
}

Service::Service(ServiceOptions options) : shared_(std::make_shared<Shared>(std::move(options))) {}

Service::State& Service::state() const { return shared_->state(); }

Kernel Service::get(const Template& tmpl, const Values& values, const Target& target, const ModuleData& data) const {
  return get_all(tmpl, values, target, data).front();
}

std::vector<Kernel> Service::get_all(const Template& tmpl, const Values& values, const Target& target,
                                     const ModuleData& data) const {
  State& state = this->state();
  Target device_target = state.resolve(target);
  service::Request request = service::make_request(tmpl, values, device_target);
  state.record(tmpl, values, device_target);
  return *state.loaded_kernels(request, data);
}

Service::State::Loaded Service::State::loaded_kernels(const service::Request& request, const ModuleData& data) {
  std::string_view bytes(reinterpret_cast<const char*>(data.bytes.data()), data.bytes.size());
  service::LoadedId id{request.key, bytes.empty() ? Key{} : cache::key_of(bytes),
                       jit::Driver::open()->current_context()};
  if (!id.context.is_unique()) {
    return load(request, data);  // a kernel of a context that is gone must not be given to one made in its place
  }
  auto ours = [&](const Loaded& kernels) { return is_for(kernels->front().artifact(), request); };
  if (auto kernels = loaded.find(id); kernels && ours(*kernels)) {
    count(Outcome::memory);
    return *kernels;
  }
  Loaded kernels = load_flights.run(id, [&] {
    Loaded fresh = load(request, data);
    loaded.insert(id, fresh);
    return fresh;
  });
  // Another request with the same key may have had the flight.
  return ours(kernels) ? kernels : load(request, data);
}

Service::State::Loaded Service::State::load(const service::Request& request, const ModuleData& data) {
  std::shared_ptr<const jit::Driver> driver = jit::Driver::open();
  if (driver->capture_active()) {
    throw Error(ErrorCode::capture_active,
                "the kernel of template " + request.source.name +
                    " is not loaded yet, and loading is not possible while a stream of this context is being captured: "
                    "call get() or prepare(...).get() before the capture begins");
  }
  Lookup found = find_or_compile(request, Clock::now());
  auto load_artifact = [&](const std::shared_ptr<const Artifact>& artifact) {
    auto kernels = std::make_shared<std::vector<Kernel>>();
    for (auto& kernel : jit::load(driver, artifact, data.symbol, data.bytes)) {
      kernels->emplace_back(std::move(kernel));
    }
    return kernels;
  };
  try {
    return load_artifact(found.artifact);
  } catch (const DriverError& error) {
    // What this process has compiled is not bettered by compiling it again.
    if (!jit::is_image_error(error.result()) || compiled_here.find(request.key) || options.strict) {
      throw;
    }
    if (options.log) {
      options.log(LogLevel::warning, std::string("the driver rejects a kernel that was cached, which is dropped and "
                                                 "compiled again: ") +
                                         error.what());
    }
  }
  // The driver rejects bytes that a layer held. They are verified, so whoever wrote them is at fault: once more, from
  // the source, unless another process has done so already.
  store.drop(*found.artifact);
  artifacts.erase(request.key);
  Lookup again = compile(request, cache::Layers::own);
  bool undropped =
      again.outcome != Outcome::compiled && is_same_compile(*again.artifact, *found.artifact);  // the cache has trouble
  return load_artifact(undropped ? compile_unconditionally(request) : again.artifact);
}

Lookup Service::find_or_compile(const Template& tmpl, const Values& values, const Target& target) const {
  Clock::time_point start = Clock::now();
  State& state = this->state();
  Target device_target = state.resolve(target);
  service::Request request = service::make_request(tmpl, values, device_target);
  state.record(tmpl, values, device_target);
  return state.find_or_compile(request, start);
}

Lookup Service::State::find_or_compile(const service::Request& request, Clock::time_point start) {
  if (Lookup found = find_in_memory(request); found.artifact) {
    count(found.outcome);
    found.lookup_us = microseconds_since(start);
    return found;
  }
  return artifact_flights.run(request.spec, [&] {
    // Whoever had the flight before may have finished between our look and our start.
    Lookup found = find_in_memory(request);
    if (!found.artifact) {
      found = find_in_layers(request);
    }
    double lookup_us = microseconds_since(start);
    if (!found.artifact) {
      try {
        found = compile(request);
      } catch (...) {
        count(Outcome::miss);
        throw;
      }
    }
    count(found.outcome);
    found.lookup_us = lookup_us;
    return found;
  });
}

void Service::State::count(Outcome outcome) noexcept {
  bool memory = outcome == Outcome::memory;
  bool layer = outcome == Outcome::disk || outcome == Outcome::pack;
  if (memory) {
    memory_hits.fetch_add(1, std::memory_order_relaxed);
  } else {
    store.count(layer ? Totals{.hits = 1} : Totals{.misses = 1});
  }
}

Lookup Service::State::find_in_memory(const service::Request& request) {
  auto artifact = artifacts.find(request.key);
  if (!artifact || !is_for(**artifact, request)) {
    return {};
  }
  return {*artifact, Outcome::memory, 0.0};
}

Lookup Service::State::find_in_layers(const service::Request& request, cache::Layers layers) {
  std::optional<cache::Hit> hit = store.get(request.key, request.spec, [this] { return installed_compiler(); }, layers);
  if (!hit) {
    return {};
  }
  auto artifact = std::make_shared<const Artifact>(std::move(hit->artifact));
  artifacts.insert(request.key, artifact);
  return {artifact, hit->from_pack ? Outcome::pack : Outcome::disk, 0.0};
}

Lookup Service::State::compile(const service::Request& request, cache::Layers layers) {
  if (options.strict) {
    throw Error(ErrorCode::strict_miss,
                "strict mode: template " + request.source.name + " for " + request.target.text() + " (key " +
                    request.key.text() +
                    ") is in no pack and not in the cache, and compiling is not allowed: add the request "
                    "to the plan that the pack is made from, or unset KILN_STRICT");
  }
  if (auto failure = failures.find(request.spec)) {
    throw CompileError(**failure);
  }
  // Fails here, before anyone waits, when there is no compiler or it does not know the target.
  nvrtc()->resolve(request.target);

  cache::Lease lease;
  if (options.cache_dir && options.cache_mode == CacheMode::read_write) {
    bool waited = false;
    auto wait = lease_wait(options.lease_wait, store.recent_compile_ms(request.source.name));
    auto [ours, result] = cache::Lease::acquire(*options.cache_dir, request.key, wait, &waited);
    lease = std::move(ours);
    if (result == cache::Lease::Result::unavailable && !lease_trouble_said.exchange(true) && options.log) {
      options.log(LogLevel::warning,
                  "processes cannot tell each other what they compile, since no file of this user's can be opened and "
                  "locked in "
                  "/dev/shm or /tmp: the same kernel may be compiled several times; check what is at kiln-leases-" +
                      std::to_string(geteuid()) + " there, and how many files this process may open (ulimit -n)");
    }
    if (waited) {
      store.count({.lease_waits = 1, .lease_timeouts = result == cache::Lease::Result::timed_out ? 1U : 0U});
    }
    // Between our look-up and the lease another process may have finished, whether we had to wait for it or not.
    if (result == cache::Lease::Result::held || waited) {
      if (Lookup found = find_in_layers(request, layers); found.artifact) {
        return found;
      }
    }
  }
  return {compile_unconditionally(request), Outcome::compiled, 0.0};
}

std::shared_ptr<const Artifact> Service::State::compile_unconditionally(const service::Request& request) {
  std::shared_ptr<const jit::Nvrtc> compiler = nvrtc();
  Target served = compiler->resolve(request.target);
  try {
    Artifact artifact = served == request.target
                            ? compiler->compile(request.source, served, request.arguments)
                            : compiler->compile(request.source, served, jit::compile_arguments(request.source, served));
    store.count({.compiles = 1});
    artifact.key = request.key;
    artifact.spec = request.spec;
    artifact.target = request.target;
    artifact.created = support::seconds_since_epoch();
    auto shared = std::make_shared<const Artifact>(std::move(artifact));
    artifacts.insert(request.key, shared);
    compiled_here.insert(request.key, true);
    store.put(*shared);
    learn_compiler(shared->compiler);
    return shared;
  } catch (const CompileError& error) {
    store.count({.compile_failures = 1});
    failures.insert(request.spec, std::make_shared<const CompileError>(error));
    throw;
  }
}

}  // namespace kiln
