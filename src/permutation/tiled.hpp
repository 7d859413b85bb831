#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/value.hpp"
#include "permutation/analysis.hpp"

namespace kiln::permutation {

/// A digit of a place in a tile, and how far one step of it goes.
struct TileDigit {
  std::uint64_t extent = 0;
  std::int64_t global = 0;  ///< units of x where tiles are loaded, of y where they are stored
  std::int64_t shared = 0;  ///< bytes of shared memory
  std::int64_t edge_a = 0;  ///< towards the edges; see TileEdge
  std::int64_t edge_b = 0;
  friend bool operator==(const TileDigit&, const TileDigit&) = default;
};

/// A tile's places in the order of x or of y, the fastest digit first.
struct TileSide {
  std::vector<TileDigit> digits;
  std::uint64_t base =
      0;  ///< of the first place: loaded, the unit of x of a row's first tile; stored, the byte of shared memory
  std::int64_t edge_a = 0;  ///< of the first place
  std::int64_t edge_b = 0;
  unsigned units = 0;  ///< a vector
  friend bool operator==(const TileSide&, const TileSide&) = default;
};

/// A digit of a tile's number in its row.
struct OuterDigit {
  std::uint64_t count = 0;   ///< of tiles
  std::int64_t source = 0;   ///< units of x
  std::uint64_t output = 0;  ///< units of y
  friend bool operator==(const OuterDigit&, const OuterDigit&) = default;
};

/// Where the last tiles along a digit of the row are parts of one. A place belongs to the row when it is nearer than
/// (size - number of the tile along the digit * step) * scale. All zero where tiles divide the row.
struct TileEdge {
  std::uint64_t outer = 0;  ///< the tile's digit
  std::uint64_t step = 0;
  std::uint64_t size = 0;
  std::uint64_t load_scale = 0;
  std::uint64_t store_scale = 0;
  friend bool operator==(const TileEdge&, const TileEdge&) = default;
};

/// Part of a row in shared memory, for maps that are axis swaps: a tile reaches along the output's fastest digits and
/// along the source's, so that both are read and written in runs. No table: places are computed from digits that are
/// literals. Template permute_tiled.
struct Tiled {
  std::vector<OuterDigit> outer;  ///< the fastest first; at least one
  TileSide load;
  TileSide store;
  TileEdge edge_a;
  TileEdge edge_b;
  bool wraps = false;  ///< sources behind the row begin again at its start
  unsigned shared_bytes = 0;
  unsigned threads = 0;
  std::uint64_t run_bytes = 0;  ///< that are neighbours on either side, except at edges
  friend bool operator==(const Tiled&, const Tiled&) = default;

  std::uint64_t tiles() const noexcept;  ///< of a row
};

/// Tiles for this map; nothing if it is no axis swap, or one whose runs are shorter than the sectors of memory. Pure,
/// O(M).
std::optional<Tiled> find_tiled(const BlockMap& blocks);

/// The template's parameters.
Values tiled_values(const Tiled& tiled, const BlockMap& blocks);

}  // namespace kiln::permutation
