#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.h"
#include "kiln/index_map.hpp"
#include "kiln/kernel.hpp"
#include "kiln/service.hpp"
#include "kiln/target.hpp"
#include "kiln/template.hpp"
#include "kiln/value.hpp"

namespace kiln {

/// How a permutation's kernel moves data.
enum class PermuteStrategy {
  automatic,  ///< what is expected to be fastest
  direct,     ///< a thread a unit, from memory to memory
  staged,     ///< whole rows through shared memory
  tiled,      ///< parts of rows through shared memory, for maps that swap axes
  bucketed,   ///< long rows in two passes, with scratch memory
  rows,  ///< rows through shared memory, each by itself: pitched, in place, with an ending, or odd ones of small units
  elements  ///< a thread a unit, for rows that are pitched or have an ending
};

/// "automatic", "direct", "staged", "tiled", "bucketed", "rows" or "elements".
KILN_EXPORT std::string_view strategy_name(PermuteStrategy strategy);
/// The strategy of that name. Throws Error{invalid_argument} naming the word and those that there are.
KILN_EXPORT PermuteStrategy parse_strategy(std::string_view name);

/// What is done to each element on its way, so that it takes no pass of its own. Types are named f16, bf16, f32, f64,
/// e4m3, e5m2, i8, u8, i16, u16, i32 or u32. Numbers are rounded to nearest, ties to even; what is beyond the largest
/// of a whole or 8-bit type becomes that, for e4m3 and e5m2 infinities too; NaN becomes the whole number 0.
struct PermuteEnding {
  std::string from = "f32";  ///< elements of x
  std::string to = "f32";    ///< elements of y
  /// What an element becomes before it is written as `to`: one expression of CUDA C++ over `value` (the element as a
  /// float; a double if `from` is f64, i32 or u32), `position` (an unsigned int: j * inner + i) and the names of
  /// `lists`: "value * scale[position] + 0.5f". Empty: the value as it is.
  std::string expression{};
  /// Constant arrays of float by name, in all at most 65,536 numbers. An index that is not below a list's size is
  /// undefined; a list that is shorter than a row, though an expression without a choice reads NAME[position], is
  /// refused.
  std::map<std::string, std::vector<float>> lists{};
  friend bool operator==(const PermuteEnding&, const PermuteEnding&) = default;
};

/// What `y[o, j, i] = x[o, map[j], i]` looks like in memory, beside the map: o in [0, rows), j in [0, M),
/// i in [0, inner). A row of x has N * inner elements, one of y M * inner.
struct PermuteShape {
  unsigned element_bytes = 4;  ///< 1, 2, 4, 8 or 16
  std::uint64_t inner = 1;     ///< elements that move together; at least 1
  /// About how many rows one launch moves, to choose between kernels; 0: many. Any number of rows is right with
  /// any choice.
  std::uint64_t typical_rows = 0;
  /// Instead of the choice. One that cannot move this map is refused.
  PermuteStrategy strategy = PermuteStrategy::automatic;
  /// Elements from the start of a row of x to that of the next, at least N * inner; 0: just that, rows are dense. What
  /// is between two rows is not looked at; what is behind the last is not read.
  std::uint64_t row_stride_in = 0;
  /// The same of y, at least M * inner. What is between two rows of y is not written.
  std::uint64_t row_stride_out = 0;
  /// y is x: every row is permuted where it is. For permutations, rows that fit in the shared memory of a block, and
  /// strides that are the same.
  bool in_place = false;
  /// With one, y[o, j, i] is what it makes of x[o, map[j], i], and `element_bytes` and `row_stride_in` are of its
  /// `from`, `row_stride_out` of its `to`; in place both must have the same size.
  std::optional<PermuteEnding> ending{};
  friend bool operator==(const PermuteShape&, const PermuteShape&) = default;
};

/// How a permute kernel is launched. A plain value.
struct KILN_EXPORT PermuteGeometry {
  unsigned threads = 0;              ///< a block
  unsigned shared_bytes = 0;         ///< dynamic shared memory a block
  std::uint64_t work_per_row = 0;    ///< work items of one row, or of those that move together
  std::uint64_t work_per_block = 0;  ///< work items of one block
  std::uint64_t rows_in_turn = 1;    ///< at most so many rows, or bundles, are done by one block, one after another
  std::uint64_t block_multiple = 1;  ///< blocks share their rows with so many neighbours, all of which are launched
  std::uint64_t bundle_rows = 1;     ///< that move together
  /// Grid and block for `rows` rows. Not to be launched when rows is 0: grid.x is 0 then. Pure.
  LaunchConfig launch(std::uint64_t rows) const noexcept;
};

/// One launch of a permutation's kernel, whose parameters are (void* y, const void* x, unsigned long long rows); where
/// scratch memory is what is written or read they are PermuteRelay's, without counters and without the y that is not
/// written or the x that is not read.
struct PermuteStep {
  PermuteGeometry geometry;
  bool to_scratch = false;    ///< writes to scratch memory instead of y
  bool from_scratch = false;  ///< reads scratch memory instead of x
};

/// Calls launch(config, arguments) for each step in turn; `rows` is not 0. The arguments last for the call.
template <typename Launch>
void run_steps(std::span<const PermuteStep> steps, void* y, const void* x, void* scratch, std::uint64_t rows,
               Launch&& launch) {
  for (const PermuteStep& step : steps) {
    void* const to = step.to_scratch ? nullptr : y;
    const void* const from = step.from_scratch ? nullptr : x;
    void* const counters = nullptr;
    const unsigned long long count = rows;
    const unsigned ring = 0;
    const Argument to_argument{static_cast<const void*>(&to), sizeof(to)};
    const Argument from_argument{static_cast<const void*>(&from), sizeof(from)};
    const Argument count_argument{&count, sizeof(count)};
    const std::array<Argument, 3> whole{to_argument, from_argument, count_argument};
    const std::array<Argument, 6> half{to_argument,
                                       from_argument,
                                       Argument{static_cast<const void*>(&scratch), sizeof(scratch)},
                                       Argument{static_cast<const void*>(&counters), sizeof(counters)},
                                       count_argument,
                                       Argument{&ring, sizeof(ring)}};
    launch(step.geometry.launch(rows),
           step.to_scratch || step.from_scratch ? std::span<const Argument>(half) : std::span<const Argument>(whole));
  }
}

/// One cooperative launch that can take the place of the steps where the device runs enough blocks at a time. Grid: x
/// blocks of a group, y groups. The kernel's parameters are (void* y, const void* x, void* scratch, unsigned* counters,
/// unsigned long long rows, unsigned ring), with scratch memory for `ring` bundles of rows and 2 * `ring` counters a
/// group, which are 0 at first.
struct PermuteRelay {
  unsigned threads = 0;
  unsigned shared_bytes = 0;
  unsigned group_blocks = 0;
  unsigned ring = 0;
};

/// A strategy for a map, and how fast it is expected to be.
struct PermuteCandidate {
  PermuteStrategy strategy = PermuteStrategy::direct;
  /// Expected, relative to a copy of y from device memory to device memory; for few rows, of their launch as a node of
  /// a graph beside that of a kernel that copies as much. 0 where the strategy cannot move this map.
  double speed = 0;
  std::string note;  ///< what limits it, such as "memory traffic"; or why it cannot move this map
};

/// What a permutation asks of the service: all that decides the kernel. For precompiling, for emulation, and to see
/// the choice.
struct KILN_EXPORT PermuteRequest {
  Template tmpl;
  Values values;
  /// Module data for the symbol `kiln_table`, for maps too large to be literals; else empty.
  std::vector<std::uint32_t> table;
  std::string strategy;                    ///< "direct", "staged", "tiled", "bucketed", "rows" or "elements"
  std::string reason;                      ///< one sentence: why this strategy
  std::vector<PermuteStep> steps;          ///< launches, in order
  std::uint64_t scratch_bundle_bytes = 0;  ///< scratch memory that the steps need for each bundle of rows
  std::uint64_t bundle_rows = 1;           ///< that move together, on their way through it
  std::optional<PermuteRelay> relay{};
  /// Every strategy for dense rows, the fastest first, those that cannot last. Empty for rows that are pitched, in
  /// place or have an ending, and where rows or elements is asked for.
  std::vector<PermuteCandidate> candidates{};

  /// Scratch memory that the steps need for `rows` rows.
  std::uint64_t scratch_bytes(std::uint64_t rows) const noexcept;
  /// The table as the service takes it; a view of this request. Empty for literal tables.
  ModuleData module_data() const;
};

/// The kernel request for a map, shape and target. Pure. Throws Error{invalid_argument} naming the field; `target` must
/// not be native: see `Service::resolve`.
KILN_EXPORT PermuteRequest plan_permute(const IndexMap& map, const PermuteShape& shape, const Target& target);

/// Device memory that a launch may use until it is done, 16-byte aligned.
struct PermuteScratch {
  void* data = nullptr;
  std::uint64_t bytes = 0;
};

/// A fixed index map, ready to run in the context it was made for. Cheap to copy; safe to use from any thread.
class KILN_EXPORT PermuteKernel {
 public:
  /// y[o, j, i] = x[o, map[j], i] for `rows` rows, 0 to 2^40 (0 launches nothing). Device pointers aligned to their
  /// elements. x and y must not overlap, but rows of the same stride may lie between each other's; in place they must
  /// be the same. Asynchronous on `stream`. Takes no lock, allocates nothing, but for the strategy "bucketed": that
  /// takes scratch_bytes(rows) bytes of device memory in the stream's order (cuMemAllocAsync) and gives them back;
  /// while the stream is captured they become the graph's. Throws Error{invalid_argument} for a null or misaligned
  /// pointer, too many rows, or buffers that overlap or, in place, differ, naming it; DriverError.
  void operator()(void* y, const void* x, std::uint64_t rows, Stream stream = nullptr) const;
  /// The same with scratch memory of the caller's: nothing is allocated. Less than scratch_bytes(rows) is slower; less
  /// than scratch_bytes(1) is Error{invalid_argument}. Ignored by strategies that need none.
  void operator()(void* y, const void* x, std::uint64_t rows, const PermuteScratch& scratch,
                  Stream stream = nullptr) const;
  /// Bytes of scratch memory with which `rows` rows are moved at full speed; 0 when none is needed.
  std::uint64_t scratch_bytes(std::uint64_t rows) const noexcept;

  /// The kernel, or that of the first launch.
  const Kernel& kernel() const noexcept;
  /// As in PermuteRequest.
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
  /// The same with the strategy that was measured fastest on the current context's device. The first call measures: it
  /// compiles the two or three strategies that are expected to be fastest and times each on device memory of its own,
  /// 1 GiB at most unless one row takes more, given back before it returns; some ten milliseconds and the compiles. It
  /// waits for its own work only, but shares the device with whatever runs there: call it while the device is idle. Of
  /// launches that take no longer than launching does, no strategy is faster than another: the expected one is taken.
  /// The service's user cache remembers the winner for the map, element size, inner, typical_rows (rounded up to a
  /// power of two), device, driver (major version) and version of Kiln: later processes measure nothing. `get` does not
  /// look there. A strategy given in `shape` is taken as it is, and rows that are pitched or in place are moved as
  /// `get` does: there is nothing to choose from. Throws what `get` throws; Error{capture_active} while a stream of the
  /// current context is being captured and the winner is not known: the capture stays intact; DriverError when there is
  /// no memory for one row.
  PermuteKernel tune(const IndexMap& map, const PermuteShape& shape = {},
                     const Target& target = Target::native()) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace kiln
