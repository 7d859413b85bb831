#include "permutation/channels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "permutation/strategy.hpp"

namespace kiln::permutation {
namespace {

using Sources = std::vector<std::uint32_t>;

/// Image by image x[fast][slow] to y[slow][fast].
Sources swapped(std::uint32_t fast, std::uint32_t slow, std::uint32_t images = 1) {
  Sources sources;
  for (std::uint32_t image = 0; image < images; ++image) {
    for (std::uint32_t at = 0; at < fast * slow; ++at) {
      sources.push_back(image * fast * slow + at % fast * slow + at / fast);
    }
  }
  return sources;
}

BlockMap blocks_of(const Sources& sources, unsigned element_bytes, std::uint64_t inner = 1) {
  return block_map(IndexMap(std::span<const std::uint32_t>(sources), sources.size()),
                   {.element_bytes = element_bytes, .inner = inner});
}

std::optional<Channels> found(const Sources& sources, unsigned element_bytes, std::uint64_t inner = 1) {
  return find_channels(blocks_of(sources, element_bytes, inner));
}

TEST(Channels, AreFoundInImages) {
  EXPECT_EQ(found(swapped(3, 50'176), 1), (Channels{3, 50'176, 1, true, 256}));
  EXPECT_EQ(found(swapped(50'176, 3), 2), (Channels{3, 50'176, 1, false, 256}));
  EXPECT_EQ(found(swapped(4, 64, 5), 4), (Channels{4, 64, 5, true, 256}));
  EXPECT_EQ(found(swapped(64, 2, 7), 1), (Channels{2, 64, 7, false, 256}));
  EXPECT_EQ(found(swapped(3, 64), 1, 2), (Channels{3, 64, 1, true, 256})) << "units of two elements";
}

TEST(Channels, ArePlanesWhereTheyAreWholeVectorsOrLong) {
  EXPECT_TRUE(found(swapped(3, 32), 1));
  EXPECT_FALSE(found(swapped(3, 16), 1)) << "less than a sector";
  EXPECT_FALSE(found(swapped(3, 40), 1));
  EXPECT_TRUE(found(swapped(3, 40), 2));
  EXPECT_TRUE(found(swapped(3, 227 * 227), 1));
  EXPECT_TRUE(found(swapped(3, 4097), 1));
  EXPECT_FALSE(found(swapped(3, 4095), 1));
}

TEST(Channels, AreFewAndNarrow) {
  EXPECT_FALSE(found(swapped(5, 4096), 1));
  EXPECT_FALSE(found(swapped(4096, 5), 1));
  EXPECT_FALSE(found(swapped(64, 64), 1));
  EXPECT_FALSE(found(swapped(3, 4096), 8));
  EXPECT_FALSE(found(swapped(3, 4096), 1, 3)) << "three units move together";
}

TEST(Channels, AreAllOfTheRow) {
  Sources sources = swapped(3, 4096);
  EXPECT_FALSE(find_channels(block_map(IndexMap(std::span<const std::uint32_t>(sources), sources.size() + 1), {})))
      << "a unit that nothing takes";
  std::ranges::reverse(sources);
  EXPECT_FALSE(found(sources, 1));
  sources = swapped(3, 4096, 2);
  std::ranges::rotate(sources, sources.begin() + 3 * 4096);
  EXPECT_FALSE(found(sources, 1)) << "images in another order";
}

TEST(Channels, DescribeTheMap) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const auto channels = static_cast<std::uint32_t>(2 + random() % 3);
    const auto plane = static_cast<std::uint32_t>(16 * (2 + random() % 40));
    const auto images = static_cast<std::uint32_t>(1 + random() % 4);
    const Sources sources = random() % 2 == 0 ? swapped(channels, plane, images) : swapped(plane, channels, images);
    const std::optional<Channels> plan = found(sources, 1U << random() % 3);
    ASSERT_TRUE(plan) << channels << " x " << plane;
    Sources described;
    for (std::uint64_t at = 0; at < sources.size(); ++at) {
      const std::uint64_t size = plan->count * plan->plane;
      const std::uint64_t of_image = at % size;
      const std::uint64_t from = plan->to_pixels ? of_image % plan->count * plan->plane + of_image / plan->count
                                                 : of_image % plan->plane * plan->count + of_image / plan->plane;
      described.push_back(static_cast<std::uint32_t>(at / size * size + from));
    }
    EXPECT_EQ(described, sources) << channels << " x " << plane;
    EXPECT_EQ(plan->row_pixels() * plan->count, sources.size());
  }
}

TEST(Channels, HaveRoomForPaddingWhereTheyAreEven) {
  EXPECT_EQ(shared_bytes(Channels{3, 4096, 1, true, 256}), 3U * 256 * 16);
  EXPECT_EQ(shared_bytes(Channels{2, 4096, 1, true, 256}), 2U * 256 * 18);
  EXPECT_EQ(shared_bytes(Channels{4, 4096, 1, false, 256}), 4U * 256 * 18);
}

/// Of a quarter of a warp, whose 16 bytes each are moved at once: all eight places of the banks, in either order.
TEST(Channels, AreInOtherBanks) {
  for (unsigned count = 2; count <= 4; ++count) {
    const auto place = [&](unsigned vector) { return (vector + (count % 2 == 0 ? vector / 8 : 0)) % 8; };
    for (unsigned first = 0; first < 256; first += 8) {
      for (unsigned number = 0; number < count; ++number) {
        unsigned taken = 0;
        unsigned taken_in_order = 0;
        for (unsigned thread = first; thread < first + 8; ++thread) {
          taken |= 1U << place(thread * count + number);
          taken_in_order |= 1U << place(thread + number * 256);
        }
        EXPECT_EQ(taken, 0xFFU) << count << " channels, vector " << number << " from thread " << first;
        EXPECT_EQ(taken_in_order, 0xFFU);
      }
    }
  }
}

TEST(Channels, AreTakenForTiled) {
  const auto chosen = [](const Sources& sources, unsigned element_bytes, PermuteStrategy strategy) {
    return choose(blocks_of(sources, element_bytes), {.strategy = strategy}, Target::cubin(90)).strategy;
  };
  for (const unsigned element_bytes : {1U, 2U, 4U}) {
    EXPECT_TRUE(
        std::holds_alternative<Channels>(chosen(swapped(3, 50'176), element_bytes, PermuteStrategy::automatic)));
    EXPECT_TRUE(std::holds_alternative<Channels>(chosen(swapped(50'176, 3), element_bytes, PermuteStrategy::tiled)));
    EXPECT_TRUE(
        std::holds_alternative<Channels>(chosen(swapped(51'529, 3), element_bytes, PermuteStrategy::automatic)));
  }
  EXPECT_TRUE(std::holds_alternative<Tiled>(chosen(swapped(50'176, 3), 8, PermuteStrategy::tiled)));
  EXPECT_TRUE(std::holds_alternative<Tiled>(chosen(swapped(3, 999), 1, PermuteStrategy::tiled)));
}

}  // namespace
}  // namespace kiln::permutation
