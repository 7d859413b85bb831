#include "permutation/permute_memory.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace kiln::permutation {
namespace {

/// A map of `size` positions, told apart by `first`.
IndexMap map_of(std::uint64_t size, std::int64_t first = 0) {
  std::vector<std::int64_t> sources(size, first);
  return {sources, 1'000'000};
}

PermuteId id_of(IndexMap map) { return {1, std::move(map), {}, Target::cubin(90)}; }

TEST(PermuteMemory, FindsTheSameRequestMadeAnew) {
  PermuteMemory<int> memory(8, 1000);
  memory.insert(id_of(map_of(36, 5)), 7);
  EXPECT_EQ(memory.find(id_of(map_of(36, 5))), 7);
}

TEST(PermuteMemory, TellsEveryFieldApart) {
  PermuteMemory<int> memory(8, 1000);
  const PermuteId id{1, map_of(36), {.element_bytes = 4, .inner = 2, .typical_rows = 10}, Target::cubin(90)};
  memory.insert(id, 7);
  auto changed = [&](auto change) {
    PermuteId other = id;
    change(other);
    return memory.find(other);
  };
  EXPECT_EQ(changed([](PermuteId&) {}), 7);
  EXPECT_EQ(changed([](PermuteId& other) { other.context = 2; }), std::nullopt);
  EXPECT_EQ(changed([](PermuteId& other) { other.map = map_of(36, 1); }), std::nullopt);
  EXPECT_EQ(changed([](PermuteId& other) { other.shape.element_bytes = 2; }), std::nullopt);
  EXPECT_EQ(changed([](PermuteId& other) { other.shape.inner = 1; }), std::nullopt);
  EXPECT_EQ(changed([](PermuteId& other) { other.shape.typical_rows = 0; }), std::nullopt);
  EXPECT_EQ(changed([](PermuteId& other) { other.target = Target::cubin(90, 'a'); }), std::nullopt);
  EXPECT_EQ(changed([](PermuteId& other) { other.target = Target::native(); }), std::nullopt);
  EXPECT_EQ(changed([](PermuteId& other) { other.tuned = true; }), std::nullopt);
}

TEST(PermuteMemory, ForgetsWhatWasNotAskedForLongest) {
  PermuteMemory<int> memory(2, 1000);
  memory.insert(id_of(map_of(1, 1)), 1);
  memory.insert(id_of(map_of(1, 2)), 2);
  EXPECT_EQ(memory.find(id_of(map_of(1, 1))), 1);
  memory.insert(id_of(map_of(1, 3)), 3);
  EXPECT_EQ(memory.size(), 2U);
  EXPECT_EQ(memory.find(id_of(map_of(1, 1))), 1);
  EXPECT_EQ(memory.find(id_of(map_of(1, 2))), std::nullopt);
  EXPECT_EQ(memory.find(id_of(map_of(1, 3))), 3);
}

TEST(PermuteMemory, IsBoundedByPositions) {
  PermuteMemory<int> memory(100, 1000);
  for (std::int64_t map = 0; map < 50; ++map) {
    memory.insert(id_of(map_of(300, map)), static_cast<int>(map));
  }
  EXPECT_EQ(memory.size(), 3U);
  EXPECT_EQ(memory.find(id_of(map_of(300, 49))), 49);
}

TEST(PermuteMemory, KeepsTheNewestHoweverLarge) {
  PermuteMemory<int> memory(100, 1000);
  memory.insert(id_of(map_of(10)), 1);
  memory.insert(id_of(map_of(5000)), 2);
  EXPECT_EQ(memory.size(), 1U);
  EXPECT_EQ(memory.find(id_of(map_of(5000))), 2);
  memory.insert(id_of(map_of(10)), 3);  // the count of positions went down with what was forgotten
  memory.insert(id_of(map_of(11)), 4);
  EXPECT_EQ(memory.size(), 2U);
}

TEST(PermuteMemory, ReplacesAValue) {
  PermuteMemory<int> memory(2, 1000);
  memory.insert(id_of(map_of(900)), 1);
  memory.insert(id_of(map_of(900)), 2);
  EXPECT_EQ(memory.size(), 1U);
  EXPECT_EQ(memory.find(id_of(map_of(900))), 2);
}

TEST(PermuteMemory, LetsGoOfWhatItForgets) {
  PermuteMemory<std::shared_ptr<int>> memory(1, 1000);
  auto value = std::make_shared<int>(1);
  memory.insert(id_of(map_of(1)), value);
  memory.insert(id_of(map_of(2)), nullptr);
  EXPECT_EQ(value.use_count(), 1);
}

}  // namespace
}  // namespace kiln::permutation
