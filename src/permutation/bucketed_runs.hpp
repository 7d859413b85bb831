#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "permutation/analysis.hpp"

namespace kiln::permutation {

/// Visits a map's units target segment by target segment: where each comes from, as source segment and unit in it.
class SegmentedMap {
 public:
  SegmentedMap(const BlockMap& blocks, std::uint64_t source_segment, std::uint64_t target_segment) noexcept
      : blocks_(blocks), source_segment_(source_segment), target_segment_(target_segment) {}

  std::uint64_t sources() const noexcept { return (blocks_.row_in_units() + source_segment_ - 1) / source_segment_; }
  std::uint64_t targets() const noexcept { return (blocks_.row_out_units() + target_segment_ - 1) / target_segment_; }

  /// Calls visit(unit, segment, unit of the source segment) for each unit of target segment `target`, in order.
  template <typename Visit>
  void for_each(std::uint64_t target, Visit&& visit) const {
    const std::uint64_t first = target * target_segment_;
    const std::uint64_t end = std::min(first + target_segment_, blocks_.row_out_units());
    for (std::uint64_t unit = first; unit < end; ++unit) {
      const std::uint64_t source = blocks_.map[unit / blocks_.units] * blocks_.units + unit % blocks_.units;
      visit(unit - first, source / source_segment_, source % source_segment_);
    }
  }

  /// Units of the run from each source segment to `target`.
  std::vector<std::uint64_t> run_units(std::uint64_t target) const {
    std::vector<std::uint64_t> units(sources());
    for_each(target, [&](std::uint64_t, std::uint64_t source, std::uint64_t) { ++units[source]; });
    return units;
  }

 private:
  const BlockMap& blocks_;
  std::uint64_t source_segment_;
  std::uint64_t target_segment_;
};

}  // namespace kiln::permutation
