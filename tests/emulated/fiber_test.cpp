#include "emulation/fiber.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace kiln::emulation {
namespace {

/// Two fibers and the thread take turns writing to one text.
struct Turns {
  Fiber main;
  std::string text;
  std::unique_ptr<Fiber> first;
  std::unique_ptr<Fiber> second;
};

void first_body(void* argument) {
  auto& turns = *static_cast<Turns*>(argument);
  for (int i = 0;; ++i) {
    turns.text += "a" + std::to_string(i);
    Fiber::switch_from_to(*turns.first, *turns.second);
  }
}

void second_body(void* argument) {
  auto& turns = *static_cast<Turns*>(argument);
  for (double value = 2.0;; value = std::sqrt(value)) {
    turns.text += value > 1.2 ? "B" : "b";
    Fiber::switch_from_to(*turns.second, turns.text.size() < 12 ? *turns.first : turns.main);
  }
}

TEST(Fiber, KeepsItsPlaceAndItsVariablesAcrossSwitches) {
  Turns turns;
  turns.first = std::make_unique<Fiber>(&first_body, &turns);
  turns.second = std::make_unique<Fiber>(&second_body, &turns);
  Fiber::switch_from_to(turns.main, *turns.first);
  EXPECT_EQ(turns.text, "a0Ba1Ba2ba3b");
  Fiber::switch_from_to(turns.main, *turns.first);
  EXPECT_EQ(turns.text, "a0Ba1Ba2ba3ba4b");
}

struct Deep {
  Fiber main;
  std::unique_ptr<Fiber> fiber;
  int reached = 0;
};

int use_stack(int depth) {
  volatile char bytes[1024] = {};
  bytes[depth % 1024] = static_cast<char>(depth);
  return depth == 0 ? 0 : use_stack(depth - 1) + (bytes[depth % 1024] == static_cast<char>(depth) ? 1 : 0);
}

TEST(Fiber, HasRoomForTheLocalMemoryOfAGpuThread) {
  Deep deep;
  deep.fiber = std::make_unique<Fiber>(
      [](void* argument) {
        auto& self = *static_cast<Deep*>(argument);
        self.reached = use_stack(512);
        Fiber::switch_from_to(*self.fiber, self.main);
      },
      &deep);
  Fiber::switch_from_to(deep.main, *deep.fiber);
  EXPECT_EQ(deep.reached, 512);
}

}  // namespace
}  // namespace kiln::emulation
