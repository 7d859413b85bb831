#include "support/lru_map.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace kiln::support {
namespace {

TEST(LruMap, FindsWhatWasInserted) {
  LruMap<std::string, int> map(2);
  EXPECT_EQ(map.find("a"), std::nullopt);
  map.insert("a", 1);
  map.insert("a", 2);
  EXPECT_EQ(map.find("a"), 2);
  EXPECT_EQ(map.size(), 1U);
}

TEST(LruMap, ForgetsTheLeastRecentlyUsed) {
  LruMap<int, int> map(2);
  map.insert(1, 10);
  map.insert(2, 20);
  map.find(1);
  map.insert(3, 30);
  EXPECT_EQ(map.find(2), std::nullopt);
  EXPECT_EQ(map.find(1), 10);
  EXPECT_EQ(map.find(3), 30);
}

TEST(LruMap, KeepsWhatIsBusyAndForgetsTheRest) {
  using Value = std::shared_ptr<int>;
  LruMap<int, Value> map(2, [](const Value& value) { return value.use_count() > 1; });
  Value held = std::make_shared<int>(1);
  map.insert(1, held);
  for (int i = 2; i < 10; ++i) {
    map.insert(i, std::make_shared<int>(i));
  }
  EXPECT_EQ(map.find(1), held);
  EXPECT_EQ(map.size(), 2U);
}

TEST(LruMap, GrowsWhenAllIsBusyAndShrinksAgain) {
  using Value = std::shared_ptr<int>;
  LruMap<int, Value> map(1, [](const Value& value) { return value.use_count() > 1; });
  std::vector<Value> held;
  for (int i = 0; i < 20; ++i) {
    held.push_back(std::make_shared<int>(i));
    map.insert(i, held.back());
  }
  EXPECT_EQ(map.size(), 20U);
  held.clear();
  map.insert(100, std::make_shared<int>(100));
  EXPECT_EQ(map.size(), 1U);
  EXPECT_EQ(*map.find(100).value(), 100);
}

TEST(LruMap, EraseAndClearForget) {
  LruMap<int, int> map(4);
  map.insert(1, 1);
  map.insert(2, 2);
  map.erase(1);
  map.erase(7);
  EXPECT_EQ(map.find(1), std::nullopt);
  map.clear();
  EXPECT_EQ(map.size(), 0U);
}

TEST(LruMap, DestroysOutsideItsLock) {
  // The destructor calls the map: with the lock held this would deadlock.
  struct Curious {
    LruMap<int, std::shared_ptr<Curious>>* map;
    ~Curious() { map->size(); }
  };
  LruMap<int, std::shared_ptr<Curious>> map(1);
  map.insert(1, std::make_shared<Curious>(Curious{&map}));
  map.insert(2, std::make_shared<Curious>(Curious{&map}));
  map.insert(2, std::make_shared<Curious>(Curious{&map}));
  map.erase(2);
  map.insert(3, std::make_shared<Curious>(Curious{&map}));
  map.clear();
  EXPECT_EQ(map.size(), 0U);
}

}  // namespace
}  // namespace kiln::support
