#include "permutation/tile_axes.hpp"

#include <algorithm>
#include <numeric>

#include "permutation/sizes.hpp"

namespace kiln::permutation {

namespace {

// Some eight of these are on a multiprocessor at a time.
constexpr std::uint64_t k_tile_bytes = 16 * 1024;

/// About `wanted` of `radix`: without a rest if that leaves vectors of `units` as whole as the radix does, else whole
/// vectors where that is not much more.
std::uint64_t extent_of(std::uint64_t radix, std::uint64_t wanted, std::uint64_t units) {
  const std::uint64_t most = wanted + wanted / 2;
  if (radix <= most) {
    return radix;
  }
  const std::uint64_t step = std::gcd(radix, units);
  for (std::uint64_t off = 0; off <= wanted / 4; ++off) {
    for (const std::uint64_t extent : {wanted + off, wanted - off}) {
      if (extent > 0 && radix % extent == 0 && extent % step == 0) {
        return extent;
      }
    }
  }
  const std::uint64_t whole = divide_up(wanted, units) * units;
  return whole <= most ? whole : wanted;
}

/// Lets tiles reach along axes that go on where the one before ends, until `wanted` units are neighbours. Returns how
/// many are.
template <typename Step>
std::uint64_t grow(std::vector<Axis>& axes, const std::vector<std::size_t>& order, Step step, bool Axis::* in_run,
                   std::uint64_t wanted, std::uint64_t units) {
  std::uint64_t run = 1;
  for (const std::size_t number : order) {
    Axis& axis = axes[number];
    if (step(axis) != run) {
      break;
    }
    if (run < wanted) {
      axis.extent = std::max(axis.extent, extent_of(axis.digit.radix, divide_up(wanted, run), units));
    }
    run *= axis.extent;
    axis.*in_run = axis.extent > 1;
    if (!axis.is_whole()) {
      break;
    }
  }
  return run;
}

}  // namespace

std::vector<Axis> axes_of(const Factors& factors) {
  std::vector<Axis> axes;
  std::uint64_t output = 1;
  for (const Digit& digit : factors.digits) {
    axes.push_back({digit, output});
    output *= digit.radix;
  }
  return axes;
}

std::vector<std::size_t> source_order(const std::vector<Axis>& axes) {
  std::vector<std::size_t> order(axes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    // 0 - 1 is more than any stride.
    return axes[a].source() - 1 < axes[b].source() - 1;
  });
  return order;
}

std::uint64_t units_of(const std::vector<Axis>& axes) {
  return std::accumulate(axes.begin(), axes.end(), std::uint64_t{1},
                         [](std::uint64_t units, const Axis& axis) { return units * axis.extent; });
}

Runs choose_extents(std::vector<Axis>& axes, unsigned unit_bytes) {
  const std::vector<std::size_t> by_source = source_order(axes);
  std::vector<std::size_t> by_output(axes.size());
  std::iota(by_output.begin(), by_output.end(), std::size_t{0});
  const std::uint64_t vector = k_vector_bytes / unit_bytes;
  const std::uint64_t most = k_tile_bytes / unit_bytes;
  std::uint64_t side = 1;
  while (4 * side * side <= most) {
    side *= 2;
  }
  const auto grow_both = [&](std::uint64_t output, std::uint64_t source) {
    Runs runs;
    runs.output =
        grow(axes, by_output, [](const Axis& axis) { return axis.output; }, &Axis::in_output_run, output, vector);
    runs.source =
        grow(axes, by_source, [](const Axis& axis) { return axis.source(); }, &Axis::in_source_run, source, vector);
    return runs;
  };
  // Each axis may reach half as far again as it should: where there are many, that adds up.
  const std::vector<Axis> none = axes;
  for (grow_both(side, side); units_of(axes) > 2 * most; grow_both(side, side)) {
    axes = none;
    side /= 2;
  }
  for (std::uint64_t wanted = 2 * side; wanted <= most; wanted *= 2) {
    const std::vector<Axis> before = axes;
    grow_both(wanted, side);
    if (units_of(axes) > most + most / 2) {
      axes = before;
      break;
    }
  }
  return grow_both(1, 1);  // what either has become with the other
}

}  // namespace kiln::permutation
