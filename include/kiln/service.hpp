#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/artifact.hpp"
#include "kiln/entry.hpp"
#include "kiln/explanation.hpp"
#include "kiln/export.h"
#include "kiln/kernel.hpp"
#include "kiln/service_options.hpp"
#include "kiln/source.hpp"
#include "kiln/stats.hpp"
#include "kiln/target.hpp"
#include "kiln/template.hpp"
#include "kiln/value.hpp"

namespace kiln {

/// Where a request's result came from.
enum class Outcome { compiled, memory, disk, pack, miss };
/// "compiled", "memory", "disk", "pack" or "miss".
KILN_EXPORT const char* name_of(Outcome outcome) noexcept;

/// An artifact, and how it was come by.
struct Lookup {
  std::shared_ptr<const Artifact> artifact;
  Outcome outcome = Outcome::miss;
  double lookup_us = 0.0;  ///< from the request to a verified artifact, compile and lease wait left out
};

/// Bytes written to a `__device__` variable of a kernel's library right after it is loaded, before any kernel
/// can run. For tables too large to be literals.
struct ModuleData {
  std::string symbol;  ///< an extern "C" variable of the template, at least as large as `bytes`
  std::span<const std::byte> bytes;
};

class Service;
namespace service {
class Tunings;
}

/// A request whose key is known already. Cheap to copy, safe to use from any thread; keeps its service alive.
class KILN_EXPORT Prepared {
 public:
  /// The kernel for the calling thread's current context: about 50 ns once it is loaded there. Drivers older than 12.0
  /// do not tell a context from one made in its place: with them every call loads anew, so keep the kernel.
  Kernel get() const;
  const Key& key() const noexcept;

 private:
  friend class Service;
  struct State;
  explicit Prepared(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// Turns templates and values into kernels, compiling at most once: the whole of Kiln behind one object. Every
/// call may be made from any thread. Making a service touches no disk, no driver and no compiler. Copies share one
/// state. In the child of a fork it begins anew, with counters and a memory of its own; a fork waits for compiles that
/// other threads have under way, ten seconds at most, after which the child cannot compile.
class KILN_EXPORT Service {
 public:
  explicit Service(ServiceOptions options = ServiceOptions::from_environment());

  /// The kernel for the calling thread's current context, compiled if no layer has it. A template with several
  /// entries gives the first; see `get_all`. Cache trouble never fails a request. Throws TemplateError,
  /// CompileError, DriverError, Error{strict_miss, nvrtc_unavailable, driver_unavailable, no_device,
  /// unsupported_target, capture_active}. While a stream of the current context is being captured a kernel that
  /// is not loaded yet is Error{capture_active}, and the capture stays intact: call `prepare(...).get()` before. With a
  /// driver older than 12.0 every call loads: keep the kernel, see `Prepared::get`.
  Kernel get(const Template& tmpl, const Values& values, const Target& target = Target::native(),
             const ModuleData& data = {}) const;
  /// One kernel per entry of the template, in its order.
  std::vector<Kernel> get_all(const Template& tmpl, const Values& values, const Target& target = Target::native(),
                              const ModuleData& data = {}) const;

  /// The same request with the work up to the key done once, for call sites that ask again and again.
  Prepared prepare(const Template& tmpl, const Values& values, const Target& target = Target::native()) const;

  /// The artifact alone: needs no driver and no GPU unless the target is native. Remembered in memory.
  Lookup find_or_compile(const Template& tmpl, const Values& values, const Target& target) const;
  /// The artifact if some layer has it; `outcome` is `miss` and `artifact` null otherwise. Never compiles.
  Lookup find(const Template& tmpl, const Values& values, const Target& target) const;

  /// The key of a request and the spec it is the hash of. `target` must not be native.
  std::pair<Key, std::string> key_of(const Template& tmpl, const Values& values, const Target& target) const;

  /// Would this request hit, and where; if not, the nearest entry and the first field that differs, and what stands in
  /// the way of compiling it. Compiles nothing, but opens the compiler on a miss.
  Explanation explain(const Template& tmpl, const Values& values, const Target& target) const;

  /// Calls `visit` for each entry that matches, until it returns false. Streams: memory does not grow with the
  /// number of entries. Throws StoreError.
  void query(const Query& query, const std::function<bool(const Entry&)>& visit) const;
  std::vector<Entry> query(const Query& query) const;
  /// The whole artifact whose key begins with `key_prefix`. Absent if none does; Error{invalid_argument} when
  /// several keys do, naming them. Several targets or compilers never share a key's row: the newest is taken.
  std::optional<Artifact> show(std::string_view key_prefix) const;

  /// `target` itself, or for native the architecture of the calling thread's current context's device.
  /// Throws Error{driver_unavailable, no_device} for native.
  Target resolve(const Target& target) const;
  /// Tells the calling thread's current context apart from every other of the process, also from one destroyed before
  /// at the same address. 0 when no context is current, when this process has not opened the driver, or when the
  /// driver is older than 12.0, which tells no contexts apart.
  std::uint64_t context_id() const noexcept;

  Stats stats() const;
  /// Removes every entry of the user cache; returns how many. Throws StoreError.
  std::uint64_t clear() const;

  const ServiceOptions& options() const noexcept;

 private:
  friend class Prepared;
  friend class service::Tunings;
  struct State;
  struct Shared;
  State& state() const;
  std::shared_ptr<Shared> shared_;
};

}  // namespace kiln
