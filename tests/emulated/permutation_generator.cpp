// Which shapes and launches permutations are checked with.
#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <tuple>

#include "emulated/permutation_maps.hpp"
#include "support/number_reference.hpp"

namespace kiln::testing {

PermutationCase generate_permutation_case(std::uint64_t number) {
  Random random(number);
  PermutationCase item;
  choose_map(random, item);
  item.shape.element_bytes = random.one_of(std::array{1U, 2U, 4U, 8U, 16U});
  item.shape.inner = random.below(10) < 6 ? 1 : random.one_of(std::array<std::uint64_t, 8>{2, 3, 4, 5, 7, 8, 16, 33});
  item.shape.typical_rows =
      random.below(3) == 0 ? 1 : 0;  // few rows: a direct kernel; many: staged where that is possible
  if (random.below(8) == 0) {
    item.shape.strategy = PermuteStrategy::direct;
  }
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

std::optional<PermutationCase> generate_bucketed_case(std::uint64_t number) {
  Random random(number + 5'000'000);
  PermutationCase item;
  choose_map(random, item);
  item.shape.element_bytes = random.one_of(std::array{1U, 1U, 2U, 4U, 8U, 16U});
  item.shape.inner = random.below(10) < 7 ? 1 : random.one_of(std::array<std::uint64_t, 5>{2, 3, 4, 8, 33});
  item.target = Target::parse(random.one_of(std::array{"sm_75", "sm_80", "sm_90a", "sm_120"}));
  const IndexMap map(std::span<const std::uint32_t>(item.sources), item.source_size);
  const permutation::BlockMap blocks = permutation::block_map(map, item.shape);
  unsigned lanes = random.one_of(std::array{1U, 2U, 4U, 4U});
  while (lanes > 1 && lanes * blocks.unit_bytes > 4) {
    lanes /= 2;
  }
  const std::uint64_t segment = random.one_of(std::array{16U, 48U, 64U, 256U, 1024U});
  item.bucketed = permutation::bucketed_with(blocks, segment, random.one_of(std::array{32U, 64U, 96U, 256U}), lanes);
  if (!item.bucketed) {
    return std::nullopt;
  }
  item.bucketed->relay = true;
  return item;
}

PermutationCase generate_tiled_case(std::uint64_t number) {
  constexpr std::uint64_t k_most_positions = 24'000;
  Random random(number + 2'000'000);
  PermutationCase item;
  item.kind = "axes";
  item.shape.element_bytes = random.one_of(std::array{1U, 2U, 4U, 8U, 16U});
  item.shape.inner = random.below(4) == 0 ? 1 + random.below(7) : 1;
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
  std::vector<std::vector<std::uint32_t>> offsets(rank);  // by axis of x: what each place along it adds
  for (std::uint64_t axis = rank; axis-- > 0;) {
    const std::uint64_t room = std::max<std::uint64_t>(k_most_positions / item.source_size, 1);
    const std::uint64_t wanted =
        random.below(2) == 0
            ? 2 + random.below(130)
            : random.one_of(std::array<std::uint64_t, 12>{2, 3, 4, 7, 16, 32, 64, 67, 100, 128, 500, 4096});
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
    std::vector<std::uint32_t> next;
    for (const std::uint32_t before : item.sources) {
      for (const std::uint32_t offset : offsets[axis]) {
        next.push_back(before + offset);
      }
    }
    item.sources = std::move(next);
  }
  return item;
}

PermutationCase generate_channels_case(std::uint64_t number) {
  Random random(number + 6'000'000);
  PermutationCase item;
  const auto [element_bytes, inner] = random.one_of(
      std::array<std::pair<unsigned, unsigned>, 8>{{{1, 1}, {1, 1}, {2, 1}, {2, 1}, {4, 1}, {1, 2}, {1, 4}, {2, 2}}});
  item.shape.element_bytes = element_bytes;
  item.shape.inner = inner;
  item.shape.strategy = PermuteStrategy::tiled;
  item.target = Target::parse(random.one_of(std::array{"sm_75", "sm_80", "sm_90a", "sm_120"}));
  const std::uint64_t vector = 16 / (element_bytes * inner);
  const std::uint64_t channels = 2 + random.below(3);
  const std::uint64_t images = random.below(3) == 0 ? 2 + random.below(3) : 1;
  const bool is_odd = random.below(2) == 0;
  // Short planes so that a tile has many; where vectors are in two of them, they have to be long.
  const std::uint64_t plane = is_odd ? 256 * vector + random.below(20 * vector) : vector * (2 + random.below(300));
  const bool to_pixels = random.below(2) == 0;
  item.kind = std::to_string(channels) + (to_pixels ? " planes to pixels" : " pixels to planes");
  for (std::uint64_t image = 0; image < images; ++image) {
    for (std::uint64_t at = 0; at < channels * plane; ++at) {
      const std::uint64_t from = to_pixels ? at % channels * plane + at / channels : at % plane * channels + at / plane;
      item.sources.push_back(static_cast<std::uint32_t>(image * channels * plane + from));
    }
  }
  item.source_size = item.sources.size();
  return item;
}

namespace {

/// Elements from row to row: a row, sometimes more, sometimes whole vectors.
std::uint64_t choose_stride(Random& random, std::uint64_t row, unsigned element_bytes) {
  const std::uint64_t vector = std::max(16 / element_bytes, 1U);
  switch (random.below(4)) {
    case 0:
      return 0;
    case 1:
      return (row / vector + 1 + random.below(3)) * vector;
    case 2:
      return row + random.below(vector);
    default:
      return row + 1 + random.below(40);
  }
}

/// A tile that fits, of any shape.
permutation::Rows any_rows(Random& random, const permutation::RowMap& map) {
  constexpr std::uint64_t k_most_shared_bytes = 48 * 1024;
  permutation::Rows rows;
  rows.line_rows = random.one_of(std::array{1U, 1U, 2U, 3U, 4U, 8U, 16U});
  rows.lanes = random.one_of(std::array{1U, 2U, 4U});
  while (rows.lanes > 1 && rows.lanes * map.blocks.unit_bytes > 4) {
    rows.lanes /= 2;
  }
  const auto set_lines = [&](unsigned lines) {
    const std::uint64_t alike = rows.lanes == 1 ? 1 : permutation::lines_until_alike(rows.line_rows, map.bytes);
    rows.lane_lines = lines;
    rows.lane_distance = static_cast<unsigned>(std::lcm(std::uint64_t{lines}, alike) * (1 + random.below(2)));
  };
  set_lines(random.one_of(std::array{1U, 1U, 2U, 3U, 7U, 16U, 33U, 100U}));
  while (permutation::shared_bytes(rows, map) > k_most_shared_bytes &&
         rows.lanes * rows.lane_lines * rows.line_rows > 1) {
    if (rows.lane_lines > 1) {
      set_lines(rows.lane_lines / 2);
    } else {
      (rows.lanes > 1 ? rows.lanes : rows.line_rows) /= 2;
      set_lines(1);
    }
  }
  const std::uint64_t sources = ((rows.line_rows - 1) * map.bytes.stride_in + map.bytes.in) / map.blocks.unit_bytes;
  const std::uint64_t least = sources <= 256 ? 0 : sources <= 65'536 ? 1 : 2;
  rows.index_bits = 8U << (least + random.below(3 - least));
  rows.threads = random.one_of(std::array{32U, 64U, 96U, 128U, 224U});
  rows.resident_threads = 1024;
  rows.asynchronous = random.below(4) == 0;
  return rows;
}

/// Strides, whether in place, target, and a kernel.
void choose_rows(Random& random, PermutationCase& item, unsigned element_out) {
  constexpr std::uint64_t k_most_bytes = 40'000;
  item.shape.inner = random.below(10) < 6 ? 1 : random.one_of(std::array<std::uint64_t, 8>{2, 3, 4, 5, 7, 8, 16, 33});
  item.target = Target::parse(random.one_of(std::array{"sm_75", "sm_80", "sm_90a", "sm_120"}));
  const IndexMap map(std::span<const std::uint32_t>(item.sources), item.source_size);
  const std::uint64_t row_in = item.source_size * item.shape.inner;
  item.shape.row_stride_in = choose_stride(random, row_in, item.shape.element_bytes);
  item.shape.row_stride_out = choose_stride(random, item.sources.size() * item.shape.inner, element_out);
  item.shape.in_place = map.is_permutation() && element_out == item.shape.element_bytes &&
                        row_in * item.shape.element_bytes <= k_most_bytes && random.below(2) == 0;
  if (item.shape.in_place) {
    item.shape.row_stride_out = item.shape.row_stride_in;
  }
  const permutation::RowMap rows = permutation::row_map(map, item.shape);
  const std::uint64_t choice = random.below(8);
  if (!item.shape.in_place && choice < 2) {
    item.rows = permutation::choose_elements(rows);
  } else if (choice < 4) {
    item.shape.typical_rows = random.below(2);  // what is chosen
  } else if (rows.bytes.in <= k_most_bytes) {
    item.rows = any_rows(random, rows);
  }
}

/// `wide`: values are doubles.
void choose_expression(Random& random, PermutationCase& item, bool wide) {
  PermuteEnding& ending = *item.shape.ending;
  const auto narrow = [](double value) { return static_cast<float>(value); };
  switch (random.below(6)) {
    case 0:
      item.ending = [](double value, unsigned) { return value; };
      if (ending.from == ending.to) {
        ending.expression = "value";
      }
      break;
    case 1:
      ending.expression = "value * 0.5f";
      item.ending = [=](double value, unsigned) { return wide ? value * 0.5 : narrow(value) * 0.5F; };
      break;
    case 2: {
      ending.expression = "value + bias[position]";
      std::vector<float> bias(item.sources.size() * item.shape.inner);
      for (float& each : bias) {
        each = static_cast<float>(random.below(4096)) / 64 - 32;
      }
      ending.lists["bias"] = bias;
      item.ending = [=](double value, unsigned position) {
        return wide ? value + bias[position] : narrow(value) + bias[position];
      };
      break;
    }
    case 3:
      ending.expression = "(value > 0.0f ? value : 0.0f) // what is not above 0 is 0\n  * scale[position % 3] + 1.25f";
      ending.lists["scale"] = {0.5F, 3.0F, -0x1.8p-3F};
      ending.lists["unused"] = {1.0F};
      item.ending = [=](double value, unsigned position) {
        const float scale = std::array{0.5F, 3.0F, -0x1.8p-3F}[position % 3];
        const double positive = value > 0.0 ? value : 0.0;
        return wide ? positive * scale + 1.25 : narrow(positive) * scale + 1.25F;
      };
      break;
    case 4:
      ending.expression = "position < 3 ? -value : value";
      item.ending = [](double value, unsigned position) { return position < 3 ? -value : value; };
      break;
    default:
      ending.expression = "value > 1.0f";
      item.ending = [](double value, unsigned) { return value > 1.0 ? 1.0 : 0.0; };
      break;
  }
}

}  // namespace

PermutationCase generate_rows_case(std::uint64_t number) {
  Random random(number + 3'000'000);
  PermutationCase item;
  choose_map(random, item);
  item.shape.element_bytes = random.one_of(std::array{1U, 2U, 4U, 8U, 16U});
  choose_rows(random, item, item.shape.element_bytes);
  return item;
}

PermutationCase generate_ending_case(std::uint64_t number) {
  constexpr std::array<const char*, 12> k_types = {"f16", "bf16", "f32", "f64", "e4m3", "e5m2",
                                                   "i8",  "u8",   "i16", "u16", "i32",  "u32"};
  constexpr std::uint64_t k_most_positions = 1500;  // of a list
  Random random(number + 4'000'000);
  PermutationCase item;
  do {
    choose_map(random, item);
  } while (item.sources.size() > k_most_positions || item.source_size > k_most_positions);
  PermuteEnding ending;
  // Every pair of types that endings are for most often, and all others sometimes.
  ending.from = random.below(2) == 0 ? k_types[random.below(4)] : random.one_of(k_types);
  ending.to = random.below(2) == 0 ? k_types[random.below(6)] : random.one_of(k_types);
  const test::NumberReference from(ending.from);
  const test::NumberReference to(ending.to);
  item.shape.element_bytes = static_cast<unsigned>(from.bytes());
  item.shape.ending = std::move(ending);
  choose_rows(random, item, static_cast<unsigned>(to.bytes()));
  choose_expression(random, item, from.is_wide());
  if (item.rows && std::holds_alternative<permutation::Rows>(*item.rows)) {
    item.kind += ", changed";
  }
  return item;
}

std::vector<PermutationLaunch> launches_for(const PermutationCase& item, const PermuteGeometry& geometry) {
  constexpr std::uint64_t k_most_bytes = 96 * 1024;  // a launch, so that all of them take seconds
  constexpr std::uint64_t k_many_bytes = 24 * 1024;  // of those that come after the first few
  constexpr std::size_t k_few = 8;
  constexpr std::size_t k_most_launches = 32;
  constexpr std::size_t k_most_tries = 200;
  constexpr std::uint64_t k_all_bytes = 1024 * 1024;  // when there is enough of long rows
  const std::uint64_t row_bytes =
      std::max<std::uint64_t>(item.sources.size(), item.source_size) * item.shape.inner * item.shape.element_bytes;
  const std::uint64_t tile =
      std::max<std::uint64_t>(geometry.work_per_block / geometry.work_per_row, 1) * geometry.bundle_rows;
  const unsigned offsets = std::max(64 / item.shape.element_bytes, 8U);
  const std::uint64_t together = tile * geometry.block_multiple;
  const std::array<std::uint64_t, 12> edges = {1,
                                               3,
                                               tile - 1,
                                               tile,
                                               together + 1,
                                               tile + 1,
                                               2 * tile + 1,
                                               2 * tile,
                                               3 * tile + tile / 2,
                                               2,
                                               2 * together - 1,
                                               tile / 2 + 1};
  Random random(item.sources.size() * 31 + item.source_size * 7 + item.shape.element_bytes);
  std::vector<PermutationLaunch> launches;
  std::set<std::tuple<std::uint64_t, unsigned, unsigned>> known;
  std::uint64_t bytes = 0;
  for (std::size_t attempt = 0; launches.size() < k_most_launches && attempt < k_most_tries; ++attempt) {
    if (launches.size() >= k_few && bytes > k_all_bytes) {
      break;
    }
    const std::uint64_t most =
        std::max<std::uint64_t>((launches.size() < k_few ? k_most_bytes : k_many_bytes) / row_bytes, 1);
    PermutationLaunch launch;
    launch.rows = std::clamp<std::uint64_t>(edges[attempt % edges.size()], 1, most);
    if (attempt % 4 != 3) {  // every fourth is aligned
      launch.x_offset = static_cast<unsigned>(random.below(offsets));
      launch.y_offset = random.below(2) == 0 ? launch.x_offset : static_cast<unsigned>(random.below(offsets));
    }
    if (item.shape.in_place) {
      launch.y_offset = launch.x_offset;
    }
    if (known.emplace(launch.rows, launch.x_offset, launch.y_offset).second) {
      launches.push_back(launch);
      bytes += launch.rows * row_bytes;
    }
  }
  return launches;
}

}  // namespace kiln::testing
