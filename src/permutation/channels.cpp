#include "permutation/channels.hpp"

#include <vector>

#include "permutation/factors.hpp"
#include "permutation/unit_type.hpp"

namespace kiln::permutation {

namespace {

constexpr std::uint64_t k_most_channels = 4;  // in registers, each of their words put together by code of its own
constexpr unsigned k_widest_unit = 4;         // of wider ones vectors have too few
constexpr unsigned k_threads = 256;
// Vectors of a plane where one that is in two planes, which holds up a warp for longer than all others, is rare.
constexpr std::uint64_t k_long_plane = 256;

bool is_few(std::uint64_t channels) noexcept { return channels >= 2 && channels <= k_most_channels; }

bool is_plane(std::uint64_t pixels, unsigned unit_bytes) noexcept {
  const std::uint64_t bytes = pixels * unit_bytes;
  return bytes % k_vector_bytes == 0 ? bytes >= k_sector_bytes : bytes >= k_long_plane * k_vector_bytes;
}

}  // namespace

std::optional<Channels> find_channels(const BlockMap& blocks) {
  if (blocks.unit_bytes > k_widest_unit || blocks.map.size() != blocks.map.source_size()) {
    return std::nullopt;
  }
  const std::optional<Factors> factors = factor(blocks);
  if (!factors || factors->base != 0 || factors->wraps || factors->digits.size() < 2 || factors->digits.size() > 3) {
    return std::nullopt;
  }
  // y[image][slow][fast] is x[image][fast][slow].
  const auto [fast, fast_stride] = factors->digits[0];
  const auto [slow, slow_stride] = factors->digits[1];
  const Digit images = factors->digits.size() == 3 ? factors->digits[2] : Digit{1, 0};
  const auto image_units = static_cast<std::int64_t>(fast * slow);
  if (slow_stride != 1 || fast_stride != static_cast<std::int64_t>(slow) ||
      (images.radix > 1 && images.stride != image_units)) {
    return std::nullopt;
  }
  if (is_few(fast) && is_plane(slow, blocks.unit_bytes)) {
    return Channels{static_cast<unsigned>(fast), slow, images.radix, /*to_pixels=*/true, k_threads};
  }
  if (is_few(slow) && is_plane(fast, blocks.unit_bytes)) {
    return Channels{static_cast<unsigned>(slow), fast, images.radix, /*to_pixels=*/false, k_threads};
  }
  return std::nullopt;
}

unsigned shared_bytes(const Channels& channels) noexcept {
  const unsigned bytes = channels.threads * channels.count * static_cast<unsigned>(k_vector_bytes);
  return channels.count % 2 == 0 ? bytes / 8 * 9 : bytes;
}

Values channels_values(const Channels& channels, const BlockMap& blocks) {
  Values values = unit_values(blocks);
  values.set("channels", channels.count)
      .set("plane", channels.plane)
      .set("images", channels.images)
      .set("to_pixels", channels.to_pixels)
      .set("threads", channels.threads);
  return values;
}

}  // namespace kiln::permutation
