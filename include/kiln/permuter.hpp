#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/export.h"
#include "kiln/index_map.hpp"
#include "kiln/service.hpp"

namespace kiln {

/// What `y[o, j, i] = x[o, map[j], i]` looks like in memory, beside the map: o in [0, rows), j in [0, M),
/// i in [0, inner). x and y are dense: x has rows * N * inner elements, y rows * M * inner.
struct PermuteShape {
  unsigned element_bytes = 4;   ///< 1, 2, 4, 8 or 16
  std::uint64_t inner = 1;      ///< elements that move together
  /// About how many rows one launch moves, to choose between kernels; 0: many. Any number of rows is right with
  /// any choice.
  std::uint64_t typical_rows = 0;
};

/// What a permutation asks of the service: all that decides the kernel. For precompiling, and to see the choice.
struct PermuteRequest {
  Template tmpl;
  Values values;
  std::vector<std::uint32_t> table;  ///< module data, for maps too large to be literals; else empty
  std::string strategy;              ///< "direct" or "staged"
  std::string reason;                ///< one sentence: why this strategy
};

/// The kernel request for a map, shape and target. Pure. Throws Error{invalid_argument} naming the field.
KILN_EXPORT PermuteRequest plan_permute(const IndexMap& map, const PermuteShape& shape, const Target& target);

/// A fixed index map, ready to run in the context it was made for. Cheap to copy; safe to use from any thread.
class KILN_EXPORT PermuteKernel {
 public:
  /// y[o, j, i] = x[o, map[j], i] for `rows` rows, 0 to 2^40 (0 launches nothing). Device pointers aligned to the
  /// element; x and y must not overlap. Asynchronous on `stream`. Takes no lock, allocates nothing.
  /// Throws Error{invalid_argument} for a null or misaligned pointer, naming it.
  void operator()(void* y, const void* x, std::uint64_t rows, Stream stream = nullptr) const;

  const Kernel& kernel() const noexcept;
  const std::string& strategy() const noexcept;

 private:
  friend class Permuter;
  struct State;
  explicit PermuteKernel(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// Makes permute kernels and remembers them, per context. Every call may be made from any thread.
class KILN_EXPORT Permuter {
 public:
  explicit Permuter(Service service);
  /// The kernel for the calling thread's current context. Throws what Service::get throws.
  PermuteKernel get(const IndexMap& map, const PermuteShape& shape = {},
                    const Target& target = Target::native()) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace kiln
