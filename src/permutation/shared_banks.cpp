#include "permutation/shared_banks.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "permutation/sizes.hpp"

namespace kiln::permutation {

namespace {

constexpr std::int64_t k_above_zero = std::int64_t{1} << 40;  // whole banks, for places that are counted downwards
constexpr std::uint64_t k_warps = 2;  // that are looked at, of each side: the others are like them

std::uint64_t places_of(const TileSide& side) noexcept {
  return std::accumulate(side.digits.begin(), side.digits.end(), std::uint64_t{1},
                         [](std::uint64_t places, const TileDigit& digit) { return places * digit.extent; });
}

/// Of place `index`, in bytes.
std::int64_t shared_place(const TileSide& side, std::uint64_t index) noexcept {
  std::int64_t place = 0;
  for (const TileDigit& digit : side.digits) {
    place += static_cast<std::int64_t>(index % digit.extent) * digit.shared;
    index /= digit.extent;
  }
  return place;
}

/// Cycles for accesses that are answered at once, at these bytes.
std::uint64_t cycles_for(std::span<std::uint64_t> places) noexcept {
  std::ranges::transform(places, places.begin(), [](std::uint64_t place) { return place / k_bank_bytes; });
  std::ranges::sort(places);
  std::array<std::uint64_t, k_banks> users{};
  std::for_each(places.begin(), std::ranges::unique(places).begin(),
                [&](std::uint64_t word) { ++users[word % k_banks]; });
  return std::ranges::max(users);
}

/// Wide accesses are answered for a half or a quarter of a warp at a time.
std::uint64_t threads_at_once(std::uint64_t bytes) noexcept {
  return std::min(k_warp, k_banks * k_bank_bytes / std::max(bytes, k_bank_bytes));
}

}  // namespace

unsigned shared_piece_bytes(const TileSide& side, unsigned unit_bytes) noexcept {
  std::uint64_t bytes = k_vector_bytes;
  std::uint64_t together = std::uint64_t{side.units} * unit_bytes;
  std::uint64_t units = 1;
  for (const TileDigit& digit : side.digits) {
    // A vector may end within the digit.
    if (digit.shared != static_cast<std::int64_t>(units * unit_bytes)) {
      together = std::gcd(together, units * unit_bytes);
      bytes = std::gcd(bytes, static_cast<std::uint64_t>(digit.shared < 0 ? -digit.shared : digit.shared));
    }
    units *= digit.extent;
  }
  return static_cast<unsigned>(std::gcd(bytes, together));
}

std::uint64_t bank_cycles(const TileSide& side, unsigned unit_bytes, unsigned piece_bytes) {
  const std::uint64_t vectors = places_of(side) / side.units;
  const std::uint64_t pieces = std::uint64_t{side.units} * unit_bytes / piece_bytes;
  const std::uint64_t at_once = threads_at_once(piece_bytes);
  std::uint64_t cycles = 0;
  for (std::uint64_t warp = 0; warp < k_warps; ++warp) {
    for (std::uint64_t piece = 0; piece < pieces; ++piece) {
      for (std::uint64_t first = 0; first < k_warp; first += at_once) {
        std::array<std::uint64_t, k_warp> places;
        for (std::uint64_t thread = 0; thread < at_once; ++thread) {
          const std::uint64_t vector = (warp * (vectors / k_warps) + first + thread) % vectors;
          const std::uint64_t unit = vector * side.units + piece * piece_bytes / unit_bytes;
          places[thread] = static_cast<std::uint64_t>(shared_place(side, unit) + k_above_zero);
        }
        cycles += cycles_for(std::span(places).first(at_once));
      }
    }
  }
  // One side has more vectors than the other where these are shorter.
  return cycles * vectors / k_warp;
}

double gather_cycles(const BlockMap& blocks, unsigned lanes, WordOrder order) {
  constexpr std::uint64_t k_most_warps = 64;
  const std::uint64_t vector = k_vector_bytes / blocks.unit_bytes;
  const std::uint64_t units = blocks.row_out_units();
  const std::uint64_t word_bytes = std::uint64_t{lanes} * blocks.unit_bytes;
  const std::uint64_t at_once = threads_at_once(word_bytes);
  const std::uint64_t groups = units / (vector * at_once);
  const std::uint64_t step = groups / k_most_warps | 1;
  std::uint64_t cycles = 0;
  std::uint64_t accesses = 0;
  for (std::uint64_t group = 0; group < groups; group += step) {
    for (std::uint64_t number = 0; number < vector; ++number) {
      std::array<std::uint64_t, k_warp> places;
      for (std::uint64_t thread = 0; thread < at_once; ++thread) {
        const std::uint64_t unit = (group * at_once + thread) * vector + number;
        const std::uint64_t place = (blocks.map[unit / blocks.units] * blocks.units + unit % blocks.units) * word_bytes;
        places[thread] = order == WordOrder::swizzled ? place ^ (place >> 3 & 0x70) : place;
      }
      cycles += cycles_for(std::span(places).first(at_once));
      ++accesses;
    }
  }
  return accesses == 0 ? 1 : static_cast<double>(cycles) / static_cast<double>(accesses);
}

}  // namespace kiln::permutation
