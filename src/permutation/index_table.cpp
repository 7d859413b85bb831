#include "permutation/index_table.hpp"

namespace kiln::permutation {

std::vector<std::uint64_t> pack_table(const IndexMap& map, std::uint64_t units, std::uint64_t rows, unsigned bits) {
  const std::uint64_t a_word = 64 / bits;
  std::vector<std::uint64_t> words((rows * map.size() * units + a_word - 1) / a_word);
  std::uint64_t entry = 0;
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (std::uint32_t source : map.sources()) {
      for (std::uint64_t unit = 0; unit < units; ++unit, ++entry) {
        std::uint64_t index = (row * map.source_size() + source) * units + unit;
        words[entry / a_word] |= index << (entry % a_word * bits);
      }
    }
  }
  return words;
}

}  // namespace kiln::permutation
