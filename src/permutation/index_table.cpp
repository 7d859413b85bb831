#include "permutation/index_table.hpp"

namespace kiln::permutation {

std::vector<std::uint64_t> pack_entries(std::span<const std::uint32_t> entries, unsigned bits) {
  const std::uint64_t a_word = 64 / bits;
  std::vector<std::uint64_t> words((entries.size() + a_word - 1) / a_word);
  for (std::uint64_t entry = 0; entry < entries.size(); ++entry) {
    words[entry / a_word] |= std::uint64_t{entries[entry]} << (entry % a_word * bits);
  }
  return words;
}

std::vector<std::uint64_t> pack_table(const IndexMap& map, unsigned bits) { return pack_entries(map.sources(), bits); }

}  // namespace kiln::permutation
