// Every strategy against the definition y[o, j, i] = x[o, map[j], i], computed on the host, between guards that must
// not change.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "gpu/kernel_fixture.hpp"
#include "kiln/error.hpp"
#include "kiln/permuter.hpp"
#include "support/temp_dir.hpp"

namespace kiln {
namespace {

using test::DeviceArray;

using Bytes = std::vector<unsigned char>;

constexpr unsigned char k_poison = 0xA5;
constexpr std::size_t k_guard_bytes = 256;

enum class MapKind {
  permutation,
  repeated,
  identity,
  reversal,
  rotation,
  planes,
  pixels,
  four_planes,
  pairs,
  transpose,
  bit_reversal
};

/// x[size / columns][columns] to y[columns][size / columns]
std::vector<std::uint32_t> transposed(std::uint64_t size, std::uint64_t columns) {
  std::vector<std::uint32_t> sources;
  for (std::uint64_t column = 0; column < columns; ++column) {
    for (std::uint64_t row = 0; row < size / columns; ++row) {
      sources.push_back(static_cast<std::uint32_t>(row * columns + column));
    }
  }
  return sources;
}

std::uint32_t bit_reversed(std::uint32_t number, std::uint64_t size) {
  std::uint32_t reversed = 0;
  for (std::uint64_t bit = 1; bit < size; bit *= 2) {
    reversed = reversed * 2 + number % 2;
    number /= 2;
  }
  return reversed;
}

IndexMap make_map(MapKind kind, std::uint64_t size, std::uint64_t source_size) {
  std::mt19937 random(static_cast<unsigned>(size * 31 + source_size));
  std::vector<std::uint32_t> sources(size);
  if (kind == MapKind::repeated) {
    std::generate(sources.begin(), sources.end(), [&] { return static_cast<std::uint32_t>(random() % source_size); });
  } else {
    std::iota(sources.begin(), sources.end(), 0U);
    switch (kind) {
      case MapKind::permutation:
        std::shuffle(sources.begin(), sources.end(), random);
        break;
      case MapKind::reversal:
        std::reverse(sources.begin(), sources.end());
        break;
      case MapKind::rotation:
        std::rotate(sources.begin(), sources.begin() + 12'345, sources.end());
        break;
      case MapKind::planes:
        sources = transposed(size, size / 3);
        break;
      case MapKind::pixels:
        sources = transposed(size, 3);
        break;
      case MapKind::four_planes:
        sources = transposed(size, size / 4);
        break;
      case MapKind::pairs:
        sources = transposed(size, 2);
        break;
      case MapKind::transpose:
        sources = transposed(size, 280);
        break;
      case MapKind::bit_reversal:
        std::transform(sources.begin(), sources.end(), sources.begin(),
                       [&](std::uint32_t number) { return bit_reversed(number, size); });
        break;
      default:
        break;
    }
  }
  return {std::span<const std::uint32_t>(sources), source_size};
}

Bytes random_bytes(std::size_t size) {
  std::mt19937 random(17);
  Bytes bytes(size);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<unsigned char>(random()); });
  return bytes;
}

/// x and y in device memory, each at `offset` bytes behind a guard, with a guard behind it.
struct Buffers {
  Buffers(const Bytes& x, std::size_t y_bytes, std::size_t x_offset, std::size_t y_offset)
      : from(guarded(x, x_offset)),
        to(guarded(Bytes(y_bytes, k_poison), y_offset)),
        x_at(from.get() + k_guard_bytes + x_offset),
        y_at(to.get() + k_guard_bytes + y_offset) {}

  static Bytes guarded(const Bytes& content, std::size_t offset) {
    Bytes whole(k_guard_bytes + offset + content.size() + k_guard_bytes, k_poison);
    std::copy(content.begin(), content.end(), whole.begin() + static_cast<std::ptrdiff_t>(k_guard_bytes + offset));
    return whole;
  }

  DeviceArray<unsigned char> from;
  DeviceArray<unsigned char> to;
  unsigned char* x_at;
  unsigned char* y_at;
};

Bytes defined(const IndexMap& map, std::size_t block_bytes, std::uint64_t rows, const Bytes& x) {
  Bytes y(rows * map.size() * block_bytes);
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint64_t j = 0; j < map.size(); ++j) {
      std::memcpy(&y[(row * map.size() + j) * block_bytes], &x[(row * map.source_size() + map[j]) * block_bytes],
                  block_bytes);
    }
  }
  return y;
}

struct Case {
  std::string name;
  MapKind kind;
  std::uint64_t size;
  std::uint64_t source_size;
  std::uint64_t inner;
  std::uint64_t typical_rows;
  std::string strategy;  ///< that is asked for; empty: the one that is chosen
};

void PrintTo(const Case& shape, std::ostream* out) { *out << shape.name; }

class PermutationTest : public test::KernelTest {
 protected:
  void check(const PermuteKernel& kernel, const IndexMap& map, std::size_t block_bytes, std::uint64_t rows,
             std::size_t x_offset, std::size_t y_offset) {
    const Bytes x = random_bytes(rows * map.source_size() * block_bytes);
    Buffers buffers(x, rows * map.size() * block_bytes, x_offset, y_offset);
    kernel(buffers.y_at, buffers.x_at, rows);
    const Bytes expected = Buffers::guarded(defined(map, block_bytes, rows, x), y_offset);
    const Bytes found = buffers.to.read();
    auto [wrong, right] = std::mismatch(found.begin(), found.end(), expected.begin());
    EXPECT_TRUE(wrong == found.end()) << "first wrong byte at " << wrong - found.begin() << " of " << found.size()
                                      << ", y from " << k_guard_bytes + y_offset << ", rows " << rows << ", x_offset "
                                      << x_offset << ", " << kernel.strategy();
  }

  Permuter permuter{service};
};

class PermutationShapes : public PermutationTest, public testing::WithParamInterface<Case> {};

TEST_P(PermutationShapes, AreMovedAsDefined) {
  const Case& shape = GetParam();
  const IndexMap map = make_map(shape.kind, shape.size, shape.source_size);
  for (unsigned bytes : {1U, 2U, 4U, 8U, 16U}) {
    SCOPED_TRACE("element_bytes " + std::to_string(bytes));
    PermuteKernel kernel =
        permuter.get(map, {.element_bytes = bytes,
                           .inner = shape.inner,
                           .typical_rows = shape.typical_rows,
                           .strategy = parse_strategy(shape.strategy.empty() ? "automatic" : shape.strategy)});
    if (!shape.strategy.empty()) {
      EXPECT_EQ(kernel.strategy(), shape.strategy);
    }
    const std::size_t block_bytes = bytes * shape.inner;
    const std::uint64_t most = (std::uint64_t{1} << 24) / (std::max(map.size(), map.source_size()) * block_bytes);
    for (std::uint64_t rows : {1U, 2U, 5U, 16U, 129U, 10'007U}) {
      if (rows <= std::max(most, std::uint64_t{2})) {
        check(kernel, map, block_bytes, rows, 0, 0);
      }
    }
    for (auto [x_offset, y_offset] : {std::pair(bytes, 0U), {0U, bytes}, {bytes, 3 * bytes}, {8U, 8U}, {13U, 7U}}) {
      const std::uint64_t rows = std::clamp<std::uint64_t>(most, 1, 37);
      check(kernel, map, block_bytes, rows, x_offset / bytes * bytes, y_offset / bytes * bytes);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gpu, PermutationShapes,
                         testing::Values(Case{"one", MapKind::permutation, 1, 1, 1, 0, ""},
                                         Case{"three", MapKind::permutation, 3, 3, 1, 0, ""},
                                         Case{"features", MapKind::permutation, 36, 36, 1, 0, ""},
                                         Case{"features_small", MapKind::permutation, 36, 36, 1, 16, "direct"},
                                         Case{"odd", MapKind::permutation, 37, 37, 1, 0, ""},
                                         Case{"odd_few", MapKind::permutation, 37, 37, 1, 1, ""},
                                         Case{"prime", MapKind::permutation, 997, 997, 1, 0, "staged"},
                                         Case{"thousand", MapKind::permutation, 1000, 1000, 1, 0, "staged"},
                                         Case{"power", MapKind::permutation, 4096, 4096, 1, 0, "staged"},
                                         Case{"odd_long", MapKind::permutation, 12'289, 12'289, 1, 0, ""},
                                         Case{"odd_longer", MapKind::permutation, 50'001, 50'001, 1, 0, ""},
                                         Case{"interleaved_longer", MapKind::permutation, 16'384, 16'384, 1, 0, ""},
                                         Case{"large", MapKind::permutation, 70'001, 70'001, 1, 0, ""},
                                         Case{"large_direct", MapKind::permutation, 70'001, 70'001, 1, 1, "direct"},
                                         Case{"long", MapKind::permutation, 262'144, 262'144, 1, 0, ""},
                                         Case{"long_repeated", MapKind::repeated, 100'000, 80'001, 1, 0, ""},
                                         Case{"very_long", MapKind::permutation, 5'000'011, 5'000'011, 1, 0, ""},
                                         Case{"axes_reversed", MapKind::reversal, 250'001, 250'001, 1, 0, "tiled"},
                                         Case{"axes_rotated", MapKind::rotation, 300'032, 300'032, 1, 0, "tiled"},
                                         Case{"axes_planes", MapKind::planes, 300'003, 300'003, 1, 0, "tiled"},
                                         Case{"axes_planes_aligned", MapKind::planes, 393'216, 393'216, 1, 0, "tiled"},
                                         Case{"axes_pixels", MapKind::pixels, 300'003, 300'003, 1, 0, "tiled"},
                                         Case{"axes_pixels_aligned", MapKind::pixels, 393'216, 393'216, 1, 0, "tiled"},
                                         Case{"axes_pixels_short", MapKind::pixels, 240, 240, 1, 0, "tiled"},
                                         Case{"axes_four_planes", MapKind::four_planes, 65'600, 65'600, 1, 0, "tiled"},
                                         Case{"axes_pairs", MapKind::pairs, 70'002, 70'002, 1, 0, "tiled"},
                                         Case{"axes_pairs_aligned", MapKind::pairs, 70'016, 70'016, 1, 0, "tiled"},
                                         Case{"axes_swapped", MapKind::transpose, 280'280, 280'280, 1, 0, "tiled"},
                                         Case{"axes_bits", MapKind::bit_reversal, 262'144, 262'144, 1, 0, "tiled"},
                                         Case{"shrinking", MapKind::repeated, 100, 150, 1, 0, ""},
                                         Case{"growing", MapKind::repeated, 301, 40, 1, 0, ""},
                                         Case{"picking", MapKind::repeated, 5, 4000, 1, 0, "direct"},
                                         Case{"constant", MapKind::repeated, 64, 1, 1, 0, ""},
                                         Case{"identity", MapKind::identity, 360, 360, 1, 0, "direct"},
                                         Case{"inner_three", MapKind::permutation, 36, 36, 3, 0, ""},
                                         Case{"inner_five_odd", MapKind::permutation, 7, 7, 5, 0, ""},
                                         Case{"inner_wide", MapKind::permutation, 12, 12, 100, 0, "direct"}),
                         [](const auto& kind) { return kind.param.name; });

TEST_F(PermutationTest, ZeroRowsLaunchNothing) {
  PermuteKernel kernel = permuter.get(make_map(MapKind::permutation, 36, 36));
  kernel(nullptr, nullptr, 0);
  check(kernel, make_map(MapKind::permutation, 36, 36), 4, 0, 0, 0);
}

TEST_F(PermutationTest, ManySmallRows) {
  const IndexMap map = make_map(MapKind::permutation, 3, 3);
  check(permuter.get(map, {.element_bytes = 1}), map, 1, 5'000'011, 0, 0);
  check(permuter.get(map, {.element_bytes = 1, .typical_rows = 1}), map, 1, 5'000'011, 0, 0);
}

TEST_F(PermutationTest, DirectGoesOnWhereTheGridEnds) {
  const IndexMap map = make_map(MapKind::permutation, 37, 37);
  PermuteKernel kernel = permuter.get(map, {.typical_rows = 1});
  const unsigned long long rows = 5'000;
  const Bytes x = random_bytes(rows * 37 * 4);
  Buffers buffers(x, x.size(), 0, 0);
  LaunchConfig config;
  config.grid = {3, 2, 1};
  config.block.x = 256;
  kernel.kernel().launch(config, static_cast<void*>(buffers.y_at), static_cast<const void*>(buffers.x_at), rows);
  EXPECT_TRUE(buffers.to.read() == Buffers::guarded(defined(map, 4, rows, x), 0));
}

TEST_F(PermutationTest, StagedTakesTilesFromBothGridDimensions) {
  const IndexMap map = make_map(MapKind::permutation, 37, 37);
  PermuteRequest request = plan_permute(map, {}, service.resolve(Target::native()));
  ASSERT_EQ(request.strategy, "staged");
  Kernel kernel = service.get(request.tmpl, request.values);
  const unsigned long long rows = 5 * request.steps.front().geometry.work_per_block + 7;
  const Bytes x = random_bytes(rows * 37 * 4);
  Buffers buffers(x, x.size(), 0, 0);
  LaunchConfig config = request.steps.front().geometry.launch(rows);
  config.grid = {4, 2, 1};  // six tiles and two too many
  kernel.launch(config, static_cast<void*>(buffers.y_at), static_cast<const void*>(buffers.x_at), rows);
  EXPECT_TRUE(buffers.to.read() == Buffers::guarded(defined(map, 4, rows, x), 0));
}

/// A relay hands on more rows than its rings hold, from 4 rows (of single bytes 16) a group on; with fewer, or with
/// less scratch memory, it is two launches for as many rows at a time as fit.
TEST_F(PermutationTest, LongRowsTakeScratchMemoryOfTheCallers) {
  for (unsigned bytes : {1U, 4U, 8U}) {
    const IndexMap map = make_map(MapKind::permutation, 90'001, 90'001);
    PermuteKernel kernel = permuter.get(map, {.element_bytes = bytes, .strategy = PermuteStrategy::bucketed});
    ASSERT_EQ(kernel.strategy(), "bucketed");
    const std::uint64_t rows = bytes == 1 ? 749 : 187;
    const std::uint64_t row_bytes = kernel.scratch_bytes(1);
    const Bytes x = random_bytes(rows * 90'001 * bytes);
    const Bytes expected = Buffers::guarded(defined(map, bytes, rows, x), 0);
    for (std::uint64_t scratch_bytes : {row_bytes, 10 * row_bytes + 5, kernel.scratch_bytes(rows)}) {
      Buffers buffers(x, x.size(), 0, 0);
      Buffers scratch(Bytes{}, scratch_bytes, 0, 0);
      kernel(buffers.y_at, buffers.x_at, rows, {scratch.y_at, scratch_bytes});
      EXPECT_TRUE(buffers.to.read() == expected) << bytes << " bytes, scratch memory " << scratch_bytes;
      const Bytes after = scratch.to.read();
      EXPECT_TRUE(std::all_of(after.begin(), after.begin() + k_guard_bytes, [](auto b) { return b == k_poison; }));
      EXPECT_TRUE(std::all_of(after.end() - k_guard_bytes, after.end(), [](auto b) { return b == k_poison; }));
    }
    Buffers buffers(x, x.size(), 0, 0);
    EXPECT_THROW(kernel(buffers.y_at, buffers.x_at, rows, {buffers.y_at, row_bytes - 1}), Error);
    EXPECT_THROW(kernel(buffers.y_at, buffers.x_at, rows, {nullptr, row_bytes}), Error);
  }
}

TEST_F(PermutationTest, RelaysRunAfterEachOtherAndBesideEachOther) {
  const IndexMap map = make_map(MapKind::permutation, 90'001, 90'001);
  PermuteKernel kernel = permuter.get(map, {.strategy = PermuteStrategy::bucketed});
  const std::uint64_t rows = 187;
  const Bytes x = random_bytes(rows * 90'001 * 4);
  const Bytes expected = Buffers::guarded(defined(map, 4, rows, x), 0);
  test::GpuStream streams[] = {test::GpuStream(true), test::GpuStream(true), test::GpuStream(true)};
  std::vector<std::unique_ptr<Buffers>> buffers;
  for (int launch = 0; launch < 12; ++launch) {
    buffers.push_back(std::make_unique<Buffers>(x, x.size(), 0, 0));
  }
  for (std::size_t launch = 0; launch < buffers.size(); ++launch) {
    kernel(buffers[launch]->y_at, buffers[launch]->x_at, rows, streams[launch % 3].get());
  }
  for (const auto& pair : buffers) {
    EXPECT_TRUE(pair->to.read() == expected);
  }
}

TEST_F(PermutationTest, LongRowsCanBeCaptured) {
  const IndexMap map = make_map(MapKind::permutation, 90'001, 90'001);
  PermuteKernel kernel = permuter.get(map, {.strategy = PermuteStrategy::bucketed});
  const test::Cuda& cuda = test::Gpu::get().cuda();
  for (std::uint64_t rows : {1U, 187U}) {
    const Bytes x = random_bytes(rows * 90'001 * 4);
    Buffers buffers(x, x.size(), 0, 0);
    test::GpuStream stream(true);
    CUgraph_st* graph = nullptr;
    CUgraphExec_st* runnable = nullptr;
    test::require(cuda.begin_capture(stream.get(), 0), "cuStreamBeginCapture");
    kernel(buffers.y_at, buffers.x_at, rows, stream.get());
    test::require(cuda.end_capture(stream.get(), &graph), "cuStreamEndCapture");
    test::require(cuda.graph_instantiate(&runnable, graph, 0), "cuGraphInstantiate");
    test::require(cuda.graph_launch(runnable, stream.get()), "cuGraphLaunch");
    test::require(cuda.graph_launch(runnable, stream.get()), "cuGraphLaunch");
    stream.synchronize();
    EXPECT_TRUE(buffers.to.read() == Buffers::guarded(defined(map, 4, rows, x), 0));
    cuda.graph_exec_destroy(runnable);
    cuda.graph_destroy(graph);
  }
}

TEST_F(PermutationTest, SameRequestIsTheSameKernel) {
  PermuteKernel first = permuter.get(make_map(MapKind::permutation, 36, 36));
  PermuteKernel again = permuter.get(make_map(MapKind::permutation, 36, 36));
  PermuteKernel other = permuter.get(make_map(MapKind::repeated, 36, 36));
  EXPECT_EQ(first.kernel().function(), again.kernel().function());
  EXPECT_NE(first.kernel().function(), other.kernel().function());
  EXPECT_EQ(service.stats().compiles, 2U);
}

TEST_F(PermutationTest, LargeMapsOfOneSizeShareAnImageButNotATable) {
  const IndexMap first = make_map(MapKind::permutation, 70'000, 70'000);
  const IndexMap second = IndexMap(Permutation(first).inverse());
  PermuteKernel kernels[] = {permuter.get(first), permuter.get(second)};
  EXPECT_EQ(service.stats().compiles, 1U);
  check(kernels[0], first, 4, 3, 0, 0);
  check(kernels[1], second, 4, 3, 0, 0);
}

TEST_F(PermutationTest, BadPointersAreRefusedBeforeTheLaunch) {
  PermuteKernel kernel = permuter.get(make_map(MapKind::permutation, 36, 36));
  DeviceArray<unsigned char> x(1024);
  DeviceArray<unsigned char> y(1024);
  EXPECT_THROW(kernel(nullptr, x.get(), 1), Error);
  EXPECT_THROW(kernel(y.get(), nullptr, 1), Error);
  EXPECT_THROW(kernel(y.get() + 2, x.get(), 1), Error);
  EXPECT_THROW(kernel(x.get(), x.get(), 1), Error);
  kernel(y.get(), x.get(), 1);
}

TEST_F(PermutationTest, RunsInTheCallersStream) {
  test::GpuStream stream(/*non_blocking=*/true);
  const IndexMap map = make_map(MapKind::permutation, 36, 36);
  PermuteKernel kernel = permuter.get(map);
  const Bytes x = random_bytes(1000 * 144);
  Buffers buffers(x, x.size(), 0, 0);
  kernel(buffers.y_at, buffers.x_at, 1000, stream.get());
  stream.synchronize();
  EXPECT_TRUE(buffers.to.read() == Buffers::guarded(defined(map, 4, 1000, x), 0));
}

/// What is fastest is for the device to say; whatever it is moves the map, and is found again.
TEST_F(PermutationTest, IsTunedForTheDevice) {
  const struct {
    std::uint64_t size;
    unsigned bytes;
    std::uint64_t typical_rows;
  } shapes[] = {{36, 4, 0}, {36, 4, 10}, {4096, 1, 0}, {20'000, 16, 0}, {90'001, 4, 0}};
  const test::TempDir folder;
  ServiceOptions cached = options();
  cached.cache_dir = folder / "cache";
  cached.cache_mode = CacheMode::read_write;
  const Permuter tuner{Service(cached)};
  for (const auto& [size, bytes, typical_rows] : shapes) {
    SCOPED_TRACE(size);
    const IndexMap map = make_map(MapKind::permutation, size, size);
    const PermuteShape shape{.element_bytes = bytes, .typical_rows = typical_rows};
    const PermuteKernel kernel = tuner.tune(map, shape);
    check(kernel, map, bytes, 37, 0, 0);
    EXPECT_EQ(tuner.tune(map, shape).strategy(), kernel.strategy());
    EXPECT_EQ(Permuter(Service(cached)).tune(map, shape).strategy(), kernel.strategy()) << "as the cache remembers";
    RecordProperty(std::to_string(size) + "_" + std::to_string(bytes), kernel.strategy());
  }
}

TEST_F(PermutationTest, IsNotTunedInACapture) {
  const IndexMap map = make_map(MapKind::permutation, 36, 36);
  const test::Cuda& cuda = test::Gpu::get().cuda();
  test::GpuStream stream(/*non_blocking=*/false);
  test::require(cuda.begin_capture(stream.get(), 0), "cuStreamBeginCapture");
  EXPECT_THROW(permuter.tune(map), Error);
  CUgraph_st* graph = nullptr;
  test::require(cuda.end_capture(stream.get(), &graph), "cuStreamEndCapture");
  cuda.graph_destroy(graph);
  check(permuter.tune(map), map, 4, 1000, 0, 0);
}

}  // namespace
}  // namespace kiln
