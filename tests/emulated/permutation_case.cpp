#include "emulated/permutation_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "emulated/guarded_buffer.hpp"
#include "kiln/emulator.hpp"
#include "kiln/index_map.hpp"
#include "kiln/source.hpp"
#include "permutation/analysis.hpp"
#include "permutation/bucketed_request.hpp"
#include "support/number_reference.hpp"

namespace kiln::testing {
namespace {

/// In bytes, of an output and an input row, and from each row to the next.
struct Rows {
  explicit Rows(const PermutationCase& item)
      : element_in(item.shape.element_bytes),
        element_out(item.shape.ending ? test::NumberReference(item.shape.ending->to).bytes() : element_in),
        out(item.sources.size() * item.shape.inner * element_out),
        in(item.source_size * item.shape.inner * element_in),
        stride_out(item.shape.row_stride_out == 0 ? out : item.shape.row_stride_out * element_out),
        stride_in(item.shape.row_stride_in == 0 ? in : item.shape.row_stride_in * element_in) {}
  std::size_t out_bytes(std::uint64_t rows) const { return (rows - 1) * stride_out + out; }
  std::size_t in_bytes(std::uint64_t rows) const { return (rows - 1) * stride_in + in; }

  std::size_t element_in;
  std::size_t element_out;
  std::size_t out;
  std::size_t in;
  std::size_t stride_out;
  std::size_t stride_in;
};

/// The definition, element by element: what `y` becomes, all between its rows included.
void apply(const PermutationCase& item, const std::byte* x, std::uint64_t rows, std::byte* y) {
  const Rows bytes(item);
  const test::NumberReference from(item.shape.ending ? item.shape.ending->from : "f32");
  const test::NumberReference to(item.shape.ending ? item.shape.ending->to : "f32");
  for (std::uint64_t row = 0; row < rows; ++row) {
    std::byte* element = y + row * bytes.stride_out;
    unsigned position = 0;
    for (const std::uint32_t source : item.sources) {
      const std::byte* block = x + row * bytes.stride_in + source * item.shape.inner * bytes.element_in;
      for (std::uint64_t i = 0; i < item.shape.inner; ++i, block += bytes.element_in, element += bytes.element_out) {
        if (item.shape.ending) {
          to.write(item.ending(from.read(block), position++), element);
        } else {
          std::memcpy(element, block, bytes.element_in);
        }
      }
    }
  }
}

/// Which NaN a NaN becomes is nobody's promise: where both are one, `expected` takes the other.
void take_any_nan(const PermutationCase& item, std::uint64_t rows, const std::byte* found, std::byte* expected) {
  const Rows bytes(item);
  const test::NumberReference to(item.shape.ending->to);
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::size_t at = 0; at < bytes.out; at += bytes.element_out) {
      const std::size_t place = row * bytes.stride_out + at;
      if (std::isnan(to.read(expected + place)) && std::isnan(to.read(found + place))) {
        std::memcpy(expected + place, found + place, bytes.element_out);
      }
    }
  }
}

std::string to_text(const PermutationLaunch& launch) {
  return std::to_string(launch.rows) + " rows, x at element " + std::to_string(launch.x_offset) + ", y at element " +
         std::to_string(launch.y_offset) + " from 64 bytes' alignment";
}

constexpr unsigned k_relay_groups = 2;

/// Bundles that a group's ring must hold here: emulated blocks run one after another, those of the first pass first,
/// and none may wait for a later one.
std::uint64_t relay_ring(const PermuteRequest& request, std::uint64_t rows) {
  const std::uint64_t bundles = (rows + request.bundle_rows - 1) / request.bundle_rows;
  return (bundles + k_relay_groups - 1) / k_relay_groups;
}

void run_relay(const PermuteRequest& request, const EmulatedKernel& kernel, void* y, const void* x, void* scratch,
               unsigned long long rows) {
  const PermuteRelay& relay = *request.relay;
  const auto ring = static_cast<unsigned>(relay_ring(request, rows));
  std::vector<unsigned> counts(std::size_t{2} * ring * k_relay_groups);
  const unsigned* const counters = counts.data();
  const Argument arguments[] = {
      {&y, sizeof y},       {&x, sizeof x},      {&scratch, sizeof scratch}, {&counters, sizeof counters},
      {&rows, sizeof rows}, {&ring, sizeof ring}};
  LaunchConfig config;
  config.grid = {relay.group_blocks, k_relay_groups};
  config.block = {relay.threads};
  config.shared_bytes = relay.shared_bytes;
  kernel.launch(config, arguments);
}

/// By the request's steps, or by its relay.
std::optional<std::string> check_way(const PermutationCase& item, const PermutationLaunch& launch,
                                     const PermuteRequest& request, const EmulatedKernel& kernel, bool relay) {
  const Rows bytes(item);
  Buffer x(bytes.in_bytes(launch.rows), launch.x_offset * bytes.element_in);
  Buffer apart(item.shape.in_place ? 0 : bytes.out_bytes(launch.rows), launch.y_offset * bytes.element_out);
  Buffer& y = item.shape.in_place ? x : apart;
  fill(x);
  const std::vector<std::byte> input(x.data(), x.data() + x.size());
  std::vector<std::byte> expected(y.data(), y.data() + y.size());
  apply(item, input.data(), launch.rows, expected.data());
  void* const y_argument = y.data();
  const void* const x_argument = x.data();
  Buffer scratch(relay ? k_relay_groups * relay_ring(request, launch.rows) * request.scratch_bundle_bytes
                       : request.scratch_bytes(launch.rows),
                 0);
  try {
    const LockedGuards x_guards(x);
    const LockedGuards y_guards(apart);
    const LockedGuards scratch_guards(scratch);
    if (relay) {
      run_relay(request, kernel, y_argument, x_argument, scratch.data(), launch.rows);
    } else {
      run_steps(
          request.steps, y_argument, x_argument, scratch.data(), launch.rows,
          [&](const LaunchConfig& config, std::span<const Argument> arguments) { kernel.launch(config, arguments); });
    }
  } catch (const std::exception& error) {
    return to_text(launch) + ": " + error.what();
  }
  if (item.shape.ending) {
    take_any_nan(item, launch.rows, y.data(), expected.data());
  }
  const auto wrong = std::mismatch(expected.begin(), expected.end(), y.data()).first;
  if (wrong != expected.end()) {
    const auto at = static_cast<std::size_t>(wrong - expected.begin());
    const std::size_t in_row = at % bytes.stride_out;
    return to_text(launch) + ": wrong at byte " + std::to_string(at) + " of " + std::to_string(expected.size()) +
           ", row " + std::to_string(at / bytes.stride_out) +
           (in_row < bytes.out ? ", position " + std::to_string(in_row / bytes.element_out / item.shape.inner)
                               : ", behind the row");
  }
  if (!y.guards_intact()) {
    return to_text(launch) + ": wrote outside y";
  }
  if (!scratch.guards_intact()) {
    return to_text(launch) + ": wrote outside scratch memory";
  }
  if (!item.shape.in_place && (!x.guards_intact() || !std::equal(input.begin(), input.end(), x.data()))) {
    return to_text(launch) + ": wrote to x or around it";
  }
  return std::nullopt;
}

std::optional<std::string> check_launch(const PermutationCase& item, const PermutationLaunch& launch,
                                        const PermuteRequest& request, const EmulatedKernel& kernel) {
  auto wrong = check_way(item, launch, request, kernel, /*relay=*/false);
  if (!wrong && request.relay) {
    wrong = check_way(item, launch, request, kernel, /*relay=*/true);
    if (wrong) {
      wrong = "relay, " + *wrong;
    }
  }
  return wrong;
}

/// `item` with each one thing made simpler.
std::vector<PermutationCase> simpler_cases(const PermutationCase& item) {
  std::vector<PermutationCase> cases;
  const auto add = [&](auto change) {
    PermutationCase copy = item;
    change(copy);
    cases.push_back(std::move(copy));
  };
  const PermutationLaunch& launch = item.launches.front();
  // A forced shape fits its map, and what is done in place its strides: those stay as they are.
  const bool forced = item.staged || item.bucketed || item.rows || item.shape.in_place || item.shape.ending;
  if (item.sources.size() > 1 && !forced) {
    add([](auto& copy) { copy.sources.resize(copy.sources.size() / 2); });
    add([](auto& copy) {
      copy.sources.erase(copy.sources.begin(),
                         copy.sources.begin() + static_cast<std::ptrdiff_t>(copy.sources.size() / 2));
    });
    add([](auto& copy) { copy.sources.pop_back(); });
  }
  const std::uint64_t needed = *std::max_element(item.sources.begin(), item.sources.end()) + std::uint64_t{1};
  if (needed < item.source_size && !forced) {
    add([&](auto& copy) { copy.source_size = needed; });
  }
  if (launch.rows > 1) {
    add([](auto& copy) { copy.launches.front().rows = 1; });
    add([](auto& copy) { copy.launches.front().rows /= 2; });
    add([](auto& copy) { copy.launches.front().rows -= 1; });
  }
  if (launch.x_offset != 0) {
    add([](auto& copy) { copy.launches.front().x_offset = 0; });
  }
  if (launch.y_offset != 0) {
    add([](auto& copy) { copy.launches.front().y_offset = 0; });
  }
  if (item.shape.inner > 1 && !forced) {
    add([](auto& copy) { copy.shape.inner = 1; });
  }
  if (item.shape.row_stride_in != 0 && !forced) {
    add([](auto& copy) { copy.shape.row_stride_in = 0; });
  }
  if (item.shape.row_stride_out != 0 && !forced) {
    add([](auto& copy) { copy.shape.row_stride_out = 0; });
  }
  return cases;
}

PermuteRequest request_of(const PermutationCase& item, const IndexMap& map) {
  if (item.rows) {
    const permutation::RowMap rows = permutation::row_map(map, item.shape);
    const auto* whole = std::get_if<permutation::Rows>(&*item.rows);
    return whole != nullptr ? permutation::rows_request(*whole, rows)
                            : permutation::elements_request(std::get<permutation::Elements>(*item.rows), rows);
  }
  if (!item.staged && !item.bucketed) {
    return plan_permute(map, item.shape, item.target);
  }
  const permutation::BlockMap blocks = permutation::block_map(map, item.shape);
  if (item.bucketed) {
    return permutation::bucketed_request(blocks, *item.bucketed);
  }
  return permutation::staged_request(*item.staged, blocks);
}

std::string to_text(const permutation::Staged& staged) {
  return ", lanes " + std::to_string(staged.lanes) + ", period " + std::to_string(staged.period_rows) + ", tile " +
         std::to_string(staged.rows_per_tile) + ", threads " + std::to_string(staged.threads) + ", index bits " +
         std::to_string(staged.index_bits) + (staged.asynchronous ? ", asynchronous" : "");
}

std::string to_text(const permutation::Bucketed& bucketed) {
  return ", lanes " + std::to_string(bucketed.lanes) + ", segments of " + std::to_string(bucketed.source_segment) +
         " and " + std::to_string(bucketed.target_segment) + ", threads " + std::to_string(bucketed.threads);
}

std::string to_text(const permutation::RowStrategy& strategy) {
  const auto* rows = std::get_if<permutation::Rows>(&strategy);
  if (rows == nullptr) {
    const auto& elements = std::get<permutation::Elements>(strategy);
    return ", threads " + std::to_string(elements.threads) + ", index bits " + std::to_string(elements.index_bits);
  }
  return ", line of " + std::to_string(rows->line_rows) + " rows, " + std::to_string(rows->lanes) + " lanes of " +
         std::to_string(rows->lane_lines) + " lines, " + std::to_string(rows->lane_distance) + " apart, threads " +
         std::to_string(rows->threads) + ", index bits " + std::to_string(rows->index_bits) +
         (rows->asynchronous ? ", asynchronous" : "");
}

std::string to_text(const PermuteShape& shape) {
  return "elements of " + std::to_string(shape.element_bytes) + " bytes, inner " + std::to_string(shape.inner) +
         ", typical rows " + std::to_string(shape.typical_rows) +
         (shape.row_stride_in == 0 ? "" : ", x's stride " + std::to_string(shape.row_stride_in)) +
         (shape.row_stride_out == 0 ? "" : ", y's stride " + std::to_string(shape.row_stride_out)) +
         (shape.in_place ? ", in place" : "") +
         (shape.ending
              ? ", " + shape.ending->from + " to " + shape.ending->to + " by '" + shape.ending->expression + "'"
              : "");
}

}  // namespace

std::optional<std::string> check_request(const PermutationCase& item, const PermuteRequest& request) {
  const EmulatedKernel kernel(instantiate(request.tmpl, request.values), item.target);
  kernel.set_data(request.module_data());
  for (const PermutationLaunch& launch : item.launches) {
    if (auto wrong = check_launch(item, launch, request, kernel)) {
      return *wrong + "\n  of " + to_text(item);
    }
  }
  return std::nullopt;
}

std::optional<std::string> check_permutation(const PermutationCase& item, PermutationCoverage* coverage) {
  const IndexMap map(std::span<const std::uint32_t>(item.sources), item.source_size);
  const PermuteRequest request = request_of(item, map);
  const EmulatedKernel kernel(instantiate(request.tmpl, request.values), item.target);
  if (!request.table.empty()) {
    kernel.set_data(request.module_data());
  }
  const std::vector<PermutationLaunch> launches =
      item.launches.empty() ? launches_for(item, request.steps.front().geometry) : item.launches;
  if (coverage != nullptr) {
    *coverage = {request.strategy, !request.table.empty(), launches.size()};
  }
  for (const PermutationLaunch& launch : launches) {
    if (auto wrong = check_launch(item, launch, request, kernel)) {
      const auto fails = [](const PermutationCase& smaller) { return check_permutation(smaller).has_value(); };
      if (!item.launches.empty()) {
        return wrong;
      }
      PermutationCase failing = item;
      failing.launches = {launch};
      return *wrong + "\n  of " + to_text(failing) + "\n  at its least: " + to_text(minimise(failing, fails));
    }
  }
  return std::nullopt;
}

PermutationCase minimise(PermutationCase item, const std::function<bool(const PermutationCase&)>& fails, int tries) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (PermutationCase& candidate : simpler_cases(item)) {
      if (tries-- <= 0) {
        return item;
      }
      if (fails(candidate)) {
        item = std::move(candidate);
        smaller = true;
        break;
      }
    }
  }
  return item;
}

std::string to_text(const PermutationCase& item) {
  std::string map;
  for (std::size_t i = 0; i < std::min<std::size_t>(item.sources.size(), 100); ++i) {
    map += (i == 0 ? "" : ",") + std::to_string(item.sources[i]);
  }
  return item.kind + " of " + std::to_string(item.sources.size()) + " from " + std::to_string(item.source_size) + ", " +
         to_text(item.shape) + ", " + item.target.text() + (item.staged ? to_text(*item.staged) : "") +
         (item.bucketed ? to_text(*item.bucketed) : "") + (item.rows ? to_text(*item.rows) : "") +
         (item.launches.empty() ? "" : ", " + to_text(item.launches.front())) + ", map [" + map +
         (item.sources.size() > 100 ? ",…]" : "]");
}

}  // namespace kiln::testing
