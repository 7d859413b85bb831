#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/export.h"
#include "kiln/index_map.hpp"
#include "kiln/kernel.hpp"
#include "kiln/service.hpp"
#include "kiln/target.hpp"
#include "kiln/template.hpp"
#include "kiln/value.hpp"

namespace kiln {

/// What `y[o, j, i] = x[o, map[j], i]` looks like in memory, beside the map: o in [0, rows), j in [0, M),
/// i in [0, inner). x and y are dense: x has rows * N * inner elements, y rows * M * inner.
struct PermuteShape {
  unsigned element_bytes = 4;  ///< 1, 2, 4, 8 or 16
  std::uint64_t inner = 1;     ///< elements that move together; at least 1
  /// About how many rows one launch moves, to choose between kernels; 0: many. Any number of rows is right with
  /// any choice.
  std::uint64_t typical_rows = 0;
  friend bool operator==(const PermuteShape&, const PermuteShape&) = default;
};

/// How a permute kernel is launched. A plain value.
struct KILN_EXPORT PermuteGeometry {
  unsigned threads = 0;              ///< a block
  unsigned shared_bytes = 0;         ///< dynamic shared memory a block
  std::uint64_t work_per_row = 0;    ///< work items of one row
  std::uint64_t work_per_block = 0;  ///< work items of one block
  /// Grid and block for `rows` rows. Not to be launched when rows is 0: grid.x is 0 then. Pure.
  LaunchConfig launch(std::uint64_t rows) const noexcept;
};

/// What a permutation asks of the service: all that decides the kernel. For precompiling, for emulation, and to see
/// the choice. The kernel's parameters are (void* y, const void* x, unsigned long long rows).
struct KILN_EXPORT PermuteRequest {
  Template tmpl;
  Values values;
  /// Module data for the symbol `kiln_table`, for maps too large to be literals; else empty.
  std::vector<std::uint32_t> table;
  std::string strategy;  ///< "direct" or "staged"
  std::string reason;    ///< one sentence: why this strategy
  PermuteGeometry geometry;

  /// The table as the service takes it; a view of this request. Empty for literal tables.
  ModuleData module_data() const;
};

/// The kernel request for a map, shape and target. Pure. Throws Error{invalid_argument} naming the field; `target` must
/// not be native: see `Service::resolve`.
KILN_EXPORT PermuteRequest plan_permute(const IndexMap& map, const PermuteShape& shape, const Target& target);

/// A fixed index map, ready to run in the context it was made for. Cheap to copy; safe to use from any thread.
class KILN_EXPORT PermuteKernel {
 public:
  /// y[o, j, i] = x[o, map[j], i] for `rows` rows, 0 to 2^40 (0 launches nothing). Device pointers aligned to the
  /// element; x and y must not overlap. Asynchronous on `stream`. Takes no lock, allocates nothing.
  /// Throws Error{invalid_argument} for a null or misaligned pointer, too many rows, or buffers that overlap, naming
  /// it.
  void operator()(void* y, const void* x, std::uint64_t rows, Stream stream = nullptr) const;

  const Kernel& kernel() const noexcept;
  /// "direct" or "staged".
  const std::string& strategy() const noexcept;

 private:
  friend class Permuter;
  struct State;
  explicit PermuteKernel(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// Makes permute kernels and remembers them, per context. Every call may be made from any thread. Copies share what is
/// remembered: the last 1024 kernels asked for, with maps of at most 64 Mi positions in all.
class KILN_EXPORT Permuter {
 public:
  explicit Permuter(Service service);
  /// The kernel for the calling thread's current context. Throws what plan_permute and Service::get throw.
  PermuteKernel get(const IndexMap& map, const PermuteShape& shape = {}, const Target& target = Target::native()) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace kiln
