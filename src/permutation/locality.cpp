#include "permutation/locality.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace kiln::permutation {

namespace {

constexpr std::uint64_t k_warp = 32;
constexpr std::uint64_t k_sector_bytes = 32;
constexpr std::uint64_t k_most_warps = 8192;

}  // namespace

double read_amplification(const BlockMap& blocks) {
  const std::uint64_t units = blocks.row_out_units();
  const std::uint64_t warps = (units + k_warp - 1) / k_warp;
  // An odd step, so that maps made of powers of two are not always met at the same place.
  const std::uint64_t step = warps / k_most_warps | 1;
  std::uint64_t sectors_read = 0;
  std::uint64_t units_read = 0;
  for (std::uint64_t warp = 0; warp < warps; warp += step) {
    std::array<std::uint64_t, k_warp> sectors;
    const std::uint64_t count = std::min(k_warp, units - warp * k_warp);
    for (std::uint64_t lane = 0; lane < count; ++lane) {
      const std::uint64_t unit = warp * k_warp + lane;
      const std::uint64_t source = blocks.map[unit / blocks.units] * blocks.units + unit % blocks.units;
      sectors[lane] = source * blocks.unit_bytes / k_sector_bytes;
    }
    std::sort(sectors.begin(), sectors.begin() + count);
    sectors_read += static_cast<std::uint64_t>(std::unique(sectors.begin(), sectors.begin() + count) - sectors.begin());
    units_read += count;
  }
  return static_cast<double>(sectors_read * k_sector_bytes) / static_cast<double>(units_read * blocks.unit_bytes);
}

}  // namespace kiln::permutation
