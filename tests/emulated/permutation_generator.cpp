// Which maps, shapes and launches permutations are checked with.
#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "emulated/permutation_case.hpp"

namespace kiln::testing {
namespace {

using Sources = std::vector<std::uint32_t>;

/// Numbers that are the same on every machine, which the library's distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  template <typename T, std::size_t Count>
  T one_of(const std::array<T, Count>& choices) {
    return choices[below(Count)];
  }
  void shuffle(Sources& sources) {
    for (std::size_t i = sources.size(); i > 1; --i) {
      std::swap(sources[i - 1], sources[below(i)]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

Sources identity(std::uint64_t size) {
  Sources sources(size);
  std::iota(sources.begin(), sources.end(), 0U);
  return sources;
}

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

Sources bit_reversed(unsigned bits) {
  Sources sources(std::size_t{1} << bits);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (unsigned bit = 0; bit < bits; ++bit) {
      sources[i] |= (i >> bit & 1) != 0 ? 1U << (bits - 1 - bit) : 0U;
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

}  // namespace

PermutationCase generate_permutation_case(std::uint64_t number) {
  Random random(number);
  PermutationCase item;
  choose_map(random, item);
  item.shape.element_bytes = random.one_of(std::array{1U, 2U, 4U, 8U, 16U});
  item.shape.inner = random.below(10) < 6 ? 1 : random.one_of(std::array<std::uint64_t, 8>{2, 3, 4, 5, 7, 8, 16, 33});
  item.shape.typical_rows =
      random.below(3) == 0 ? 1 : 0;  // few rows: a direct kernel; many: staged where that is possible
  item.target = Target::parse(random.one_of(std::array{"sm_75", "sm_80", "sm_90a", "sm_120"}));
  return item;
}

std::optional<PermutationCase> generate_staged_case(std::uint64_t number) {
  constexpr std::uint64_t k_most_shared_bytes = 48 * 1024;
  PermutationCase item = generate_permutation_case(number);
  Random random(number + 1'000'000);
  const IndexMap map(std::span<const std::uint32_t>(item.sources), item.source_size);
  const permutation::BlockMap blocks = permutation::block_map(map, item.shape);
  permutation::Staged staged;
  staged.lanes = random.one_of(std::array{1U, 2U, 4U});
  while (staged.lanes > 1 && staged.lanes * blocks.unit_bytes > 4) {
    staged.lanes /= 2;
  }
  const auto fits = [&](std::uint64_t period_rows, std::uint64_t periods) {
    staged.period_rows = static_cast<unsigned>(period_rows);
    staged.rows_per_tile = static_cast<unsigned>(staged.lanes * period_rows * periods);
    return permutation::shared_bytes(staged, blocks) <= k_most_shared_bytes &&
           period_rows * std::max(blocks.row_in_units(), blocks.row_out_units()) <= 65'536;
  };
  std::uint64_t period_rows = random.one_of(std::array{1U, 1U, 2U, 4U, 8U, 16U, 3U, 32U});
  while (!fits(period_rows, 1)) {
    if (period_rows == 1) {
      return std::nullopt;
    }
    period_rows /= 2;
  }
  std::uint64_t periods = 1;
  if (period_rows * blocks.row_out_units() * blocks.unit_bytes % 16 == 0) {
    periods += random.below(9);
    while (!fits(period_rows, periods)) {
      --periods;
    }
  }
  staged.index_bits = period_rows * blocks.row_in_units() <= 256 && random.below(2) == 0 ? 8 : 16;
  staged.threads = random.one_of(std::array{32U, 33U, 96U, 250U, 256U, 288U, 509U});
  staged.resident_threads = 1024;
  staged.asynchronous = random.below(3) == 0;
  item.staged = staged;
  return item;
}

PermutationCase generate_tiled_case(std::uint64_t number) {
  constexpr std::uint64_t k_most_positions = 24'000;
  Random random(number + 2'000'000);
  PermutationCase item;
  item.kind = "axes";
  item.shape.element_bytes = random.one_of(std::array{1U, 2U, 4U, 8U, 16U});
  item.shape.inner = random.below(4) == 0 ? 1 + random.below(4) : 1;
  item.shape.strategy = PermuteStrategy::tiled;
  item.target = Target::parse(random.one_of(std::array{"sm_75", "sm_80", "sm_90a", "sm_120"}));
  if (random.below(8) == 0) {
    item.kind = "rotation";
    item.source_size = 64 + random.below(k_most_positions);
    item.sources = identity(item.source_size);
    const std::uint64_t by =
        random.below(2) == 0 ? random.below(item.source_size) : random.below(item.source_size / 16) * 16;
    std::rotate(item.sources.begin(), item.sources.begin() + static_cast<std::ptrdiff_t>(by), item.sources.end());
    return item;
  }
  if (random.below(8) == 0) {
    item.kind = "bit reversal";
    item.sources = bit_reversed(static_cast<unsigned>(8 + random.below(7)));
    item.source_size = item.sources.size();
    return item;
  }
  // Axes of x, the slowest first, of which y takes a part, upwards, downwards or one place again and again.
  const std::uint64_t rank = 1 + random.below(4);
  std::vector<std::uint64_t> order(rank);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  for (std::uint64_t i = rank; i > 1; --i) {
    std::swap(order[i - 1], order[random.below(i)]);
  }
  const bool crops = random.below(4) == 0;
  item.sources = {0};
  item.source_size = 1;
  std::vector<Sources> offsets(rank);  // by axis of x: what each place along it adds
  for (std::uint64_t axis = rank; axis-- > 0;) {
    const std::uint64_t room = std::max<std::uint64_t>(k_most_positions / item.source_size, 1);
    const std::uint64_t wanted =
        random.one_of(std::array<std::uint64_t, 12>{2, 3, 4, 7, 16, 32, 64, 67, 100, 128, 500, 4096});
    const std::uint64_t size = std::min(axis == 0 && rank < 3 ? std::max<std::uint64_t>(wanted, 40) : wanted, room);
    const std::uint64_t first = crops ? random.below(3) : 0;
    const std::uint64_t behind = crops ? random.below(3) : 0;
    const std::uint64_t way = random.below(6);
    for (std::uint64_t place = 0; place < size; ++place) {
      const std::uint64_t from = way == 0 ? size - 1 - place : way == 1 && crops ? 0 : place;
      offsets[axis].push_back(static_cast<std::uint32_t>((first + from) * item.source_size));
    }
    item.source_size *= first + size + behind;
  }
  for (const std::uint64_t axis : order) {
    Sources next;
    for (const std::uint32_t before : item.sources) {
      for (const std::uint32_t offset : offsets[axis]) {
        next.push_back(before + offset);
      }
    }
    item.sources = std::move(next);
  }
  return item;
}

std::vector<PermutationLaunch> launches_for(const PermutationCase& item, const PermuteGeometry& geometry) {
  constexpr std::uint64_t k_most_bytes = 192 * 1024;  // a launch, so that all of them take seconds
  const std::uint64_t row_bytes =
      std::max<std::uint64_t>(item.sources.size(), item.source_size) * item.shape.inner * item.shape.element_bytes;
  const std::uint64_t most = std::max<std::uint64_t>(k_most_bytes / row_bytes, 1);
  const std::uint64_t tile = std::max<std::uint64_t>(geometry.work_per_block / geometry.work_per_row, 1);
  const unsigned offsets = std::max(64 / item.shape.element_bytes, 1U);
  Random random(item.sources.size() * 31 + item.source_size * 7 + item.shape.element_bytes);
  std::vector<PermutationLaunch> launches;
  for (const std::uint64_t rows :
       {std::uint64_t{1}, std::uint64_t{3}, tile - 1, tile, tile + 1, 2 * tile + 1, 2 * tile, 3 * tile + tile / 2}) {
    PermutationLaunch launch;
    launch.rows = std::clamp<std::uint64_t>(rows, 1, most);
    if (launches.size() % 4 != 3) {  // every fourth is aligned
      launch.x_offset = static_cast<unsigned>(random.below(offsets));
      launch.y_offset = random.below(2) == 0 ? launch.x_offset : static_cast<unsigned>(random.below(offsets));
    }
    launches.push_back(launch);
  }
  return launches;
}

}  // namespace kiln::testing
