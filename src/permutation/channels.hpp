#pragma once

#include <cstdint>
#include <optional>

#include "kiln/value.hpp"
#include "permutation/analysis.hpp"
#include "permutation/sizes.hpp"

namespace kiln::permutation {

/// Images from planes to pixels or back: units change places in registers, vectors of them go through shared memory.
/// Template permute_channels, where the words are explained.
struct Channels {
  unsigned count = 0;        ///< of channels, 2 at least
  std::uint64_t plane = 0;   ///< pixels of an image
  std::uint64_t images = 0;  ///< of a row
  bool to_pixels = false;    ///< else to planes
  unsigned threads = 0;      ///< a multiple of 32
  friend bool operator==(const Channels&, const Channels&) = default;

  std::uint64_t row_pixels() const noexcept { return images * plane; }
  /// Does every plane start with a vector, where x and y do?
  bool has_whole_vectors(unsigned unit_bytes) const noexcept { return plane * unit_bytes % k_vector_bytes == 0; }
};

/// For maps that swap the inner two axes and no more, where one is 2 to 4 channels of 4 bytes at most and the other
/// whole vectors, or so long that few vectors are in two planes. Pure, O(M).
std::optional<Channels> find_channels(const BlockMap& blocks);

/// Of a block.
unsigned shared_bytes(const Channels& channels) noexcept;

/// The template's parameters.
Values channels_values(const Channels& channels, const BlockMap& blocks);

}  // namespace kiln::permutation
