#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "permutation/analysis.hpp"
#include "permutation/strategy.hpp"

namespace kiln::permutation {

/// What one pass over a tensor takes, in units of the time that a copy of y takes: of the driver, from device memory to
/// device memory. The parts overlap, though not fully: together they take the root of the sum of their squares.
struct PassCost {
  double memory = 0;  ///< bytes that cross memory, whole sectors, beside those that a copy reads and writes
  double shared = 0;  ///< cycles of shared memory, with those in which threads wait for a bank
  double issue = 0;   ///< instructions, where they are more than memory gives time for
  double table = 0;   ///< indices that are read for the units, from the caches
  double tile = 0;    ///< few tiles on a multiprocessor at once: one's loads do not overlap another's stores

  double total() const noexcept;
};

/// What a strategy is expected to take for a map.
struct Cost {
  std::vector<PassCost> passes;  ///< one after the other
  double latency_us = 0;         ///< of launches that move next to nothing, as nodes of a graph
  double row_bytes = 0;          ///< of x and y together
  double row_out_bytes = 0;
  double blocks_per_row = 0;

  /// How fast launches of `rows` rows are, 1 being a copy of y; 0: of any number that keeps the whole device busy.
  double speed(std::uint64_t rows) const;
  /// How long such a launch takes, in microseconds; `rows` is not 0.
  double microseconds(std::uint64_t rows) const;
  /// The part that takes the most, in words: "memory traffic", say.
  std::string limit(std::uint64_t rows) const;
};

/// The model: written down in cost.cpp, with the figures that it was fitted to and how well it meets them. For devices
/// whose blocks may have `shared_limit` bytes of shared memory. Pure, O(M).
Cost cost_of(const Strategy& strategy, const BlockMap& blocks, unsigned shared_limit);

}  // namespace kiln::permutation
