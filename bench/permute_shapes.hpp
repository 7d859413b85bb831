#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "kiln/index_map.hpp"
#include "kiln/permuter.hpp"

/// The permutations that are measured.
namespace kiln::bench {

enum class MapKind { random, identity, reversal, rotation, stride, transpose, bit_reversal, planes, pixels };

struct Shape {
  unsigned element_bytes;
  std::uint64_t size;
  std::uint64_t inner = 1;
  MapKind kind = MapKind::random;
  unsigned x_offset = 0;  ///< elements behind a boundary of 256 bytes
  unsigned y_offset = 0;
  std::uint64_t rows = 0;  ///< 0: as many as fit
  PermuteStrategy strategy = PermuteStrategy::automatic;
  unsigned channels = 3;  ///< of planes and pixels
};

inline constexpr std::uint64_t k_long_row_bytes = 227 * 1024;  // more than any block's shared memory

inline std::string name_of(const Shape& shape) {
  constexpr const char* k_kinds[] = {"",           " identity",     " reversal",         " rotation",        " stride",
                                     " transpose", " bit reversal", " planes to pixels", " pixels to planes"};
  constexpr const char* k_channels[] = {"", "", " of two", "", " of four"};
  constexpr const char* k_strategies[] = {"",         " as direct",  " as staged", " as tiled", " as bucketed",
                                          " as rows", " as elements"};
  return "u" + std::to_string(8 * shape.element_bytes) + " N=" + std::to_string(shape.size) +
         (shape.inner > 1 ? " inner " + std::to_string(shape.inner) : "") + k_kinds[static_cast<int>(shape.kind)] +
         k_channels[shape.channels] +
         (shape.x_offset + shape.y_offset != 0
              ? " unaligned " + std::to_string(shape.x_offset) + "," + std::to_string(shape.y_offset)
              : "") +
         (shape.rows != 0 ? " rows " + std::to_string(shape.rows) : "") +
         k_strategies[static_cast<int>(shape.strategy)] +
         (shape.size * shape.inner * shape.element_bytes > k_long_row_bytes ? " long" : "");
}

/// Transposes and strides take the largest factor of the size up to its root, bit reversals a power of two.
inline IndexMap map_of(const Shape& shape) {
  const std::uint64_t size = shape.size;
  std::uint64_t factor = 1;
  for (std::uint64_t f = 1; f * f <= size; ++f) {
    factor = size % f == 0 ? f : factor;
  }
  const int bits = std::countr_zero(size);
  const auto source_of = [&](std::uint64_t j) {
    switch (shape.kind) {
      case MapKind::reversal:
        return size - 1 - j;
      case MapKind::rotation:
        return (j + size / 3) % size;
      case MapKind::stride:
        return (j * (2 * factor + 1)) % size;
      case MapKind::transpose:
        return j % factor * (size / factor) + j / factor;
      case MapKind::planes:
        return j % shape.channels * (size / shape.channels) + j / shape.channels;
      case MapKind::pixels:
        return j % (size / shape.channels) * shape.channels + j / (size / shape.channels);
      case MapKind::bit_reversal: {
        std::uint64_t reversed = 0;
        for (int bit = 0; bit < bits; ++bit) {
          reversed |= (j >> bit & 1) << (bits - 1 - bit);
        }
        return reversed;
      }
      default:
        return j;
    }
  };
  std::vector<std::uint32_t> sources(size);
  for (std::uint64_t j = 0; j < size; ++j) {
    sources[j] = static_cast<std::uint32_t>(source_of(j));
  }
  if (shape.kind == MapKind::random) {
    std::shuffle(sources.begin(), sources.end(), std::mt19937(27));
  }
  return {std::span<const std::uint32_t>(sources), size};
}

/// Element sizes by lengths, structured maps, addresses between two vectors, few rows.
inline std::vector<Shape> permute_grid() {
  std::vector<Shape> grid;
  for (std::uint64_t size : {3U, 36U, 37U, 128U, 256U, 997U, 1000U, 4096U, 16'384U, 28'672U, 50'000U, 50'001U, 262'144U,
                             1'048'576U, 4'194'304U, 16'777'216U}) {
    grid.push_back({4, size});
  }
  for (unsigned element_bytes : {1U, 2U, 8U, 16U}) {
    for (std::uint64_t size : {3U, 36U, 64U, 997U, 1000U, 4096U, 4097U, 16'384U, 65'536U}) {
      grid.push_back({element_bytes, size});
    }
  }
  for (unsigned element_bytes : {1U, 2U, 8U}) {
    grid.push_back({element_bytes, 1'048'576});
  }
  grid.push_back({1, 262'144});
  grid.push_back({2, 262'144});
  grid.push_back({4, 262'147});  // most rows start between two vectors
  for (MapKind kind : {MapKind::identity, MapKind::reversal, MapKind::rotation, MapKind::stride, MapKind::transpose,
                       MapKind::bit_reversal}) {
    for (std::uint64_t size : {4096U, 65'536U}) {
      grid.push_back({4, size, 1, kind});
      grid.push_back({1, size, 1, kind});
    }
  }
  // Images of 224 x 224, tiles that are edges, and what rows that fit in shared memory would be as tiles.
  for (unsigned element_bytes : {1U, 2U, 4U}) {
    grid.push_back({element_bytes, 150'528, 1, MapKind::planes});
    grid.push_back({element_bytes, 150'528, 1, MapKind::pixels});
  }
  for (MapKind kind : {MapKind::planes, MapKind::pixels}) {
    grid.push_back({1, 100'352, 1, kind, 0, 0, 0, PermuteStrategy::automatic, 2});
    grid.push_back({1, 200'704, 1, kind, 0, 0, 0, PermuteStrategy::automatic, 4});
    grid.push_back({1, 154'587, 1, kind});  // 227 x 227: planes begin between two vectors
    grid.push_back({1, 150'528, 1, kind, 1, 3});
  }
  grid.push_back({4, 1'048'576, 1, MapKind::transpose});
  grid.push_back({4, 1'000'000, 1, MapKind::transpose});
  grid.push_back({4, 1'005'973, 1, MapKind::transpose});  // 997 x 1009
  grid.push_back({2, 1'048'576, 1, MapKind::transpose});
  grid.push_back({8, 1'048'576, 1, MapKind::transpose});
  grid.push_back({16, 65'536, 1, MapKind::transpose});
  for (unsigned element_bytes : {1U, 2U}) {
    for (MapKind kind : {MapKind::reversal, MapKind::rotation, MapKind::transpose, MapKind::bit_reversal}) {
      grid.push_back({element_bytes, 65'536, 1, kind, 0, 0, 0, PermuteStrategy::tiled});
    }
  }
  grid.push_back({4, 4096, 1, MapKind::transpose, 0, 0, 0, PermuteStrategy::staged});
  grid.push_back({8, 1'048'576, 1, MapKind::random, 0, 0, 0, PermuteStrategy::bucketed});
  for (MapKind kind : {MapKind::reversal, MapKind::transpose, MapKind::bit_reversal}) {
    grid.push_back({4, 4096, 1, kind, 0, 0, 0, PermuteStrategy::tiled});
  }
  grid.push_back({4, 36, 1, MapKind::identity});
  for (std::uint64_t inner : {3U, 16U}) {
    grid.push_back({4, 36, inner});
  }
  for (unsigned element_bytes : {1U, 2U, 4U, 8U}) {
    for (std::uint64_t size : {36U, 4096U}) {
      for (auto [x_offset, y_offset] : {std::pair(0U, 1U), {1U, 0U}, {1U, 3U}}) {
        grid.push_back({element_bytes, size, 1, MapKind::random, x_offset, y_offset});
      }
    }
  }
  for (std::uint64_t rows : {1U, 100U, 10'000U, 1'000'000U}) {
    grid.push_back({4, 256, 1, MapKind::random, 0, 0, rows});
  }
  return grid;
}

/// Rows that are no matter of dense ones alone.
struct RowShape {
  std::string name;
  std::uint64_t size = 0;
  PermuteShape shape;
};

/// Pitched, in place, converted on the way: of random permutations.
inline std::vector<RowShape> rows_grid() {
  std::vector<RowShape> grid;
  const auto add = [&](const std::string& what, std::uint64_t size, const PermuteShape& shape) {
    grid.push_back(
        {"rows u" + std::to_string(8 * shape.element_bytes) + " N=" + std::to_string(size) + what, size, shape});
  };
  for (const unsigned element_bytes : {1U, 2U, 4U, 8U, 16U}) {
    for (const std::uint64_t size : {36U, 256U, 1000U, 4096U}) {
      const std::uint64_t vector = 16 / element_bytes;
      PermuteShape shape{.element_bytes = element_bytes};
      shape.row_stride_in = (size / vector + 1) * vector;
      shape.row_stride_out = shape.row_stride_in;
      add(" pitched to vectors", size, shape);
      shape.row_stride_in = size + 1;
      shape.row_stride_out = size + 3;
      add(" pitched by 1 and 3", size, shape);
      add(" in place", size, {.element_bytes = element_bytes, .in_place = true});
    }
  }
  add(" in place", 37, {.in_place = true});
  add(" pitched by 1 and 3", 50'000, {.row_stride_in = 50'001, .row_stride_out = 50'003});
  add(" in place", 50'000, {.in_place = true});
  for (const auto& [from, to, element_bytes] : {std::tuple("f32", "f16", 4U),
                                                {"f16", "f32", 2U},
                                                {"f32", "bf16", 4U},
                                                {"bf16", "f32", 2U},
                                                {"f16", "e4m3", 2U},
                                                {"e4m3", "f16", 1U},
                                                {"f32", "i8", 4U}}) {
    for (const std::uint64_t size : {36U, 1000U, 4096U}) {
      PermuteShape shape{.element_bytes = element_bytes};
      shape.ending = PermuteEnding{.from = from, .to = to};
      add(std::string(" ") + from + " to " + to, size, shape);
    }
  }
  PermuteShape scaled{.element_bytes = 4};
  scaled.ending = PermuteEnding{.to = "f16", .expression = "value * scale[position] + 0.5f"};
  scaled.ending->lists["scale"] = std::vector<float>(1000, 0.25F);
  add(" f32 to f16 scaled", 1000, scaled);
  return grid;
}

}  // namespace kiln::bench
