#include "permutation/locality.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace kiln::permutation {

namespace {

constexpr std::uint64_t k_most_warps = 8192;

}  // namespace

double read_amplification(const BlockMap& blocks, std::uint64_t piece_bytes) {
  const std::uint64_t units = blocks.row_out_units();
  const std::uint64_t warps = (units + k_warp - 1) / k_warp;
  // An odd step, so that maps made of powers of two are not always met at the same place.
  const std::uint64_t step = warps / k_most_warps | 1;
  std::uint64_t pieces_read = 0;
  std::uint64_t units_read = 0;
  for (std::uint64_t warp = 0; warp < warps; warp += step) {
    std::array<std::uint64_t, k_warp> pieces;
    const std::uint64_t count = std::min(k_warp, units - warp * k_warp);
    for (std::uint64_t lane = 0; lane < count; ++lane) {
      const std::uint64_t unit = warp * k_warp + lane;
      const std::uint64_t source = blocks.map[unit / blocks.units] * blocks.units + unit % blocks.units;
      pieces[lane] = source * blocks.unit_bytes / piece_bytes;
    }
    std::sort(pieces.begin(), pieces.begin() + count);
    pieces_read += static_cast<std::uint64_t>(std::unique(pieces.begin(), pieces.begin() + count) - pieces.begin());
    units_read += count;
  }
  return static_cast<double>(pieces_read * piece_bytes) / static_cast<double>(units_read * blocks.unit_bytes);
}

double read_share(const BlockMap& blocks) {
  // Blocks that are longer are fetched as they are.
  const std::uint64_t block_bytes = blocks.units * blocks.unit_bytes;
  const std::uint64_t piece_bytes = std::max(block_bytes, k_piece_bytes);
  const std::uint64_t row_in_bytes = blocks.map.source_size() * block_bytes;
  std::vector<bool> is_read((row_in_bytes + piece_bytes - 1) / piece_bytes);
  for (const std::uint32_t source : blocks.map.sources()) {
    is_read[source * block_bytes / piece_bytes] = true;
    is_read[((source + std::uint64_t{1}) * block_bytes - 1) / piece_bytes] = true;
  }
  const auto pieces = static_cast<std::uint64_t>(std::count(is_read.begin(), is_read.end(), true));
  // A row may end within its last piece.
  const std::uint64_t bytes = std::min(pieces * piece_bytes, row_in_bytes);
  return static_cast<double>(bytes) / static_cast<double>(blocks.map.size() * block_bytes);
}

}  // namespace kiln::permutation
