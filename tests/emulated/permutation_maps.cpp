#include "emulated/permutation_maps.hpp"

#include <algorithm>
#include <numeric>

namespace kiln::testing {

using Sources = std::vector<std::uint32_t>;

Sources identity(std::uint64_t size) {
  Sources sources(size);
  std::iota(sources.begin(), sources.end(), 0U);
  return sources;
}

Sources bit_reversed(unsigned bits) {
  Sources sources(std::size_t{1} << bits);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (unsigned bit = 0; bit < bits; ++bit) {
      sources[i] |= (i >> bit & 1) != 0 ? 1U << (bits - 1 - bit) : 0U;
    }
  }
  return sources;
}

namespace {

/// From 1 to 5000, small ones often, and the edges of vectors, warps, bytes and powers of two.
std::uint64_t choose_size(Random& random) {
  constexpr std::array<std::uint64_t, 30> k_edges = {1,   2,   3,   4,   5,   7,    8,    15,   16,   17,
                                                     31,  32,  33,  36,  63,  64,   65,   100,  127,  128,
                                                     255, 256, 257, 511, 997, 1000, 1024, 2048, 4096, 5000};
  switch (random.below(4)) {
    case 0:
      return 1 + random.below(5000);
    case 1:
      return 1 + random.below(300);
    case 2:
      return 1 + random.below(20);
    default:
      return random.one_of(k_edges);
  }
}

Sources transposed(std::uint64_t rows, std::uint64_t columns) {
  Sources sources;
  for (std::uint64_t column = 0; column < columns; ++column) {
    for (std::uint64_t row = 0; row < rows; ++row) {
      sources.push_back(static_cast<std::uint32_t>(row * columns + column));
    }
  }
  return sources;
}

Sources of_blocks(Random& random, std::uint64_t count, std::uint64_t block) {
  Sources order = identity(count);
  random.shuffle(order);
  Sources sources;
  for (const std::uint32_t k : order) {
    for (std::uint64_t i = 0; i < block; ++i) {
      sources.push_back(static_cast<std::uint32_t>(k * block + i));
    }
  }
  return sources;
}

Sources any(Random& random, std::uint64_t size, std::uint64_t source_size) {
  Sources sources(size);
  for (std::uint32_t& source : sources) {
    source = static_cast<std::uint32_t>(random.below(source_size));
  }
  return sources;
}

}  // namespace

void choose_map(Random& random, PermutationCase& item) {
  const std::uint64_t size = choose_size(random);
  item.source_size = size;
  item.sources = identity(size);
  switch (random.below(13)) {
    case 0:
      item.kind = "identity";
      break;
    case 1:
      item.kind = "reversal";
      std::reverse(item.sources.begin(), item.sources.end());
      break;
    case 2:
      item.kind = "rotation";
      std::rotate(item.sources.begin(), item.sources.begin() + static_cast<std::ptrdiff_t>(random.below(size)),
                  item.sources.end());
      break;
    case 3: {
      item.kind = "stride";
      const std::uint64_t stride = 1 + random.below(size);
      for (std::uint64_t j = 0; j < size; ++j) {
        item.sources[j] = static_cast<std::uint32_t>(j * stride % size);
      }
      break;
    }
    case 4: {
      item.kind = "transpose";
      const std::uint64_t rows = 1 + random.below(70);
      item.sources = transposed(rows, 1 + random.below(70));
      item.source_size = item.sources.size();
      break;
    }
    case 5:
      item.kind = "bit reversal";
      item.sources = bit_reversed(static_cast<unsigned>(random.below(13)));
      item.source_size = item.sources.size();
      break;
    case 6:
    case 7: {
      item.kind = "blocks";
      const std::uint64_t block = 1 + random.below(random.below(2) == 0 ? 20 : 300);
      item.sources = of_blocks(random, 1 + random.below(5000 / block), block);
      item.source_size = item.sources.size();
      break;
    }
    case 8:
      item.kind = "repeated sources";
      item.sources = any(random, choose_size(random), size);
      break;
    case 9:
      item.kind = "one source for all";
      item.sources.assign(choose_size(random), static_cast<std::uint32_t>(random.below(size)));
      break;
    case 10:
      item.kind = "some of the sources";
      random.shuffle(item.sources);
      item.sources.resize(1 + random.below(size));
      break;
    default:
      item.kind = "random";
      random.shuffle(item.sources);
      break;
  }
}

}  // namespace kiln::testing
