#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "emulated/permutation_case.hpp"

namespace kiln::testing {

/// Numbers that are the same on every machine, which the library's distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  template <typename T, std::size_t Count>
  T one_of(const std::array<T, Count>& choices) {
    return choices[below(Count)];
  }
  void shuffle(std::vector<std::uint32_t>& sources) {
    for (std::size_t i = sources.size(); i > 1; --i) {
      std::swap(sources[i - 1], sources[below(i)]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

std::vector<std::uint32_t> identity(std::uint64_t size);
std::vector<std::uint32_t> bit_reversed(unsigned bits);

/// Gives the case one of many kinds of maps, of 1 to 5000 positions.
void choose_map(Random& random, PermutationCase& item);

}  // namespace kiln::testing
