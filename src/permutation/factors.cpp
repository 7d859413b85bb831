#include "permutation/factors.hpp"

#include <algorithm>
#include <span>

namespace kiln::permutation {

namespace {

using Sources = std::span<const std::uint32_t>;

std::int64_t step_to(Sources sources, std::uint64_t position) noexcept {
  return std::int64_t{sources[position]} - std::int64_t{sources.front()};
}

/// How many neighbours of `period` positions follow each other by one stride, from the start.
std::uint64_t steady_periods(Sources sources, std::uint64_t period, std::int64_t stride) noexcept {
  std::uint64_t position = period;
  while (position < sources.size() &&
         std::int64_t{sources[position]} - std::int64_t{sources[position - period]} == stride) {
    ++position;
  }
  return position / period;
}

std::uint64_t largest_divisor(std::uint64_t number, std::uint64_t most) noexcept {
  std::uint64_t largest = 1;
  for (std::uint64_t divisor = 1; divisor * divisor <= number; ++divisor) {
    if (number % divisor == 0) {
      for (const std::uint64_t candidate : {divisor, number / divisor}) {
        if (candidate <= most) {
          largest = std::max(largest, candidate);
        }
      }
    }
  }
  return largest;
}

/// A digit at a time, the fastest first: what is steady for longer than one digit lasts goes on to the end of another,
/// so that the longest is right.
std::optional<std::vector<Digit>> digits_of(Sources sources) {
  std::vector<Digit> digits;
  for (std::uint64_t period = 1; period < sources.size();) {
    const std::int64_t stride = step_to(sources, period);
    const std::uint64_t radix = largest_divisor(sources.size() / period, steady_periods(sources, period, stride));
    if (radix == 1) {
      return std::nullopt;
    }
    digits.push_back({radix, stride});
    period *= radix;
  }
  return digits;
}

bool is_rotation(const IndexMap& map) noexcept {
  const Sources sources = map.sources();
  if (map.size() != map.source_size()) {
    return false;
  }
  std::uint64_t expected = sources.front();
  return std::ranges::all_of(sources, [&](std::uint32_t source) {
    const bool goes_on = source == expected;
    expected = expected + 1 == map.size() ? 0 : expected + 1;
    return goes_on;
  });
}

}  // namespace

std::optional<Factors> factor(const BlockMap& blocks) {
  const Sources sources = blocks.map.sources();
  Factors factors;
  factors.base = std::uint64_t{sources.front()} * blocks.units;
  if (auto digits = digits_of(sources)) {
    for (const Digit& digit : *digits) {
      factors.digits.push_back({digit.radix, digit.stride * static_cast<std::int64_t>(blocks.units)});
    }
    // The units of a block are a digit of their own, which goes on where blocks do.
    if (blocks.units > 1 || factors.digits.empty()) {
      factors.digits.insert(factors.digits.begin(), {blocks.units, 1});
    }
    return factors;
  }
  if (is_rotation(blocks.map)) {
    factors.digits = {{blocks.row_out_units(), 1}};
    factors.wraps = true;
    return factors;
  }
  return std::nullopt;
}

}  // namespace kiln::permutation
