#include "support/flights.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace kiln::support {
namespace {

TEST(Flights, OneDoesTheWorkForAll) {
  Flights<int, int> flights;
  std::atomic<int> started{0};
  std::atomic<int> asking{0};
  std::vector<std::thread> threads;
  std::atomic<int> sum{0};
  constexpr int k_threads = 16;
  for (int i = 0; i < k_threads; ++i) {
    threads.emplace_back([&] {
      ++asking;
      sum += flights.run(7, [&] {
        ++started;
        // Held until everyone has at least come to the call, so that they find the flight under way.
        while (asking < k_threads) {
          std::this_thread::yield();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return 42;
      });
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(started, 1);
  EXPECT_EQ(sum, 42 * k_threads);
}

TEST(Flights, EveryWaiterGetsTheExceptionAndTheNextCallStartsAnew) {
  Flights<std::string, int> flights;
  std::atomic<int> asking{0};
  std::atomic<int> caught{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      ++asking;
      try {
        flights.run("key", [&]() -> int {
          while (asking < 4) {
            std::this_thread::yield();
          }
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          throw std::runtime_error("the very one");
        });
      } catch (const std::runtime_error& error) {
        caught += std::string(error.what()) == "the very one" ? 1 : 0;
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(caught, 4);
  EXPECT_EQ(flights.run("key", [] { return 5; }), 5);
}

TEST(Flights, KeysDoNotWaitForEachOther) {
  Flights<int, int> flights;
  int inner = 0;
  int outer = flights.run(1, [&] {
    inner = flights.run(2, [] { return 2; });
    return 1;
  });
  EXPECT_EQ(inner, 2);
  EXPECT_EQ(outer, 1);
}

}  // namespace
}  // namespace kiln::support
