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

void set_table(PermuteRequest& request, std::span<const std::uint32_t> entries, unsigned bits) {
  constexpr std::size_t k_most_literals = 16'384;
  const std::vector<std::uint64_t> words = pack_entries(entries, bits);
  request.values.set("index_bits", bits);
  if (entries.size() <= k_most_literals) {
    request.values.set("table_bytes", 0U).set("table", words);
    return;
  }
  request.table.reserve(words.size() * 2 + 4);
  for (const std::uint64_t word : words) {
    request.table.push_back(static_cast<std::uint32_t>(word));
    request.table.push_back(static_cast<std::uint32_t>(word >> 32));
  }
  request.table.resize((request.table.size() + 3) / 4 * 4);
  request.values.set("table_bytes", request.table.size() * sizeof(std::uint32_t))
      .set("table", std::vector<std::uint64_t>{0});
}

std::vector<std::uint64_t> pack_table(const IndexMap& map, unsigned bits) { return pack_entries(map.sources(), bits); }

}  // namespace kiln::permutation
