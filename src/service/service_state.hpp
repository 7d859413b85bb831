#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cache/layered_store.hpp"
#include "jit/driver.hpp"
#include "jit/nvrtc.hpp"
#include "jit/toolchain.hpp"
#include "kiln/error.hpp"
#include "kiln/service.hpp"
#include "service/record.hpp"
#include "service/request.hpp"
#include "support/flights.hpp"
#include "support/lru_map.hpp"

namespace kiln {

namespace service {

using Clock = std::chrono::steady_clock;

/// What a loaded kernel is remembered by: the request, the data written into it, and the context it lives in.
struct LoadedId {
  Key key;
  Key data;  ///< XXH3-128 of the module data; zero for none
  jit::ContextId context;
  friend bool operator==(const LoadedId&, const LoadedId&) = default;
};

struct LoadedIdHash {
  std::size_t operator()(const LoadedId& id) const noexcept {
    // The key's bits are uniform already; context ids are small.
    return static_cast<std::size_t>(id.key.low ^ id.data.low ^ (id.context.id * 0x9E3779B97F4A7C15U));
  }
};

struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept { return static_cast<std::size_t>(key.low); }
};

}  // namespace service

/// One process's state of a service. The request path over it is in service.cpp.
struct Service::State {
  using Loaded = std::shared_ptr<const std::vector<Kernel>>;

  explicit State(ServiceOptions given);

  // The request path, in the order of its steps.
  Loaded loaded_kernels(const service::Request& request, const ModuleData& data);
  Loaded load(const service::Request& request, const ModuleData& data);
  Lookup find_or_compile(const service::Request& request, service::Clock::time_point start);
  Lookup find_in_memory(const service::Request& request);
  Lookup find_in_layers(const service::Request& request, cache::Layers layers = cache::Layers::all);
  Lookup compile(const service::Request& request, cache::Layers layers = cache::Layers::all);
  std::shared_ptr<const Artifact> compile_unconditionally(const service::Request& request);

  void count(Outcome outcome) noexcept;

  /// The compiler, opened at the first miss. Throws Error{nvrtc_unavailable}.
  std::shared_ptr<const jit::Nvrtc> nvrtc();
  /// Who the installed compiler is, opening it only if its library file was never seen before. Absent: none installed.
  cache::CompilerPolicy installed_compiler();
  /// A compile told who the opened compiler is: remembered, so that the next process need not open it to know.
  void learn_compiler(const Compiler& compiler);
  Target resolve(const Target& target) const;
  void record(const Template& tmpl, const Values& values, const Target& target);

  const ServiceOptions options;
  cache::LayeredStore store;
  std::atomic<std::uint64_t> memory_hits{0};  // the store counts everything else
  std::optional<service::Recorder> recorder;
  std::atomic<bool> lease_trouble_said{false};

  support::LruMap<Key, std::shared_ptr<const Artifact>, service::KeyHash> artifacts;
  /// Keys compiled by this process: should the driver reject one of these, no other compile is going to help.
  support::LruMap<Key, bool, service::KeyHash> compiled_here;
  support::LruMap<service::LoadedId, Loaded, service::LoadedIdHash> loaded;
  /// Sources that did not compile, by spec, so that the same failure is not compiled for again and again.
  support::LruMap<std::string, std::shared_ptr<const CompileError>> failures;
  // Keyed by spec, not by key: requests whose keys collide must not get each other's result.
  support::Flights<std::string, Lookup> artifact_flights;
  support::Flights<service::LoadedId, Loaded, service::LoadedIdHash> load_flights;

  std::mutex toolchain_mutex;  // guards the four below
  std::shared_ptr<const jit::Nvrtc> opened_nvrtc;
  cache::LibraryStamp opened_stamp;
  std::optional<cache::CompilerPolicy> known_compiler;
  bool is_remembered = false;  ///< by the cache, for the next process
};

/// What the copies of a service share: the state of the process they are in. A child made by fork() gets a state of
/// its own at its first call, since the locks, flights and handles it inherited belong to threads that it does not
/// have. The parent's state is then left alone, not destroyed.
struct Service::Shared {
  explicit Shared(ServiceOptions given);
  ~Shared();
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  State& state();

 private:
  struct Generation {
    std::uint64_t fork;
    State state;
  };
  std::atomic<Generation*> current_;
};

}  // namespace kiln
