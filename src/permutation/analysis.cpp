#include "permutation/analysis.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <vector>

#include "kiln/error.hpp"

namespace kiln::permutation {

namespace {

constexpr std::uint64_t k_widest_unit = 16;

}  // namespace

void check_shape(const IndexMap& map, const PermuteShape& shape) {
  if (!std::has_single_bit(shape.element_bytes) || shape.element_bytes > k_widest_unit) {
    throw Error(ErrorCode::invalid_argument,
                "element_bytes is " + std::to_string(shape.element_bytes) + ": it must be 1, 2, 4, 8 or 16");
  }
  if (shape.inner == 0) {
    throw Error(ErrorCode::invalid_argument, "inner is 0: it counts the elements that move together, at least 1");
  }
  std::uint64_t longest = std::max(map.size(), map.source_size());
  if (shape.inner > k_most_row_bytes / shape.element_bytes / longest) {
    throw Error(ErrorCode::invalid_argument, "inner is " + std::to_string(shape.inner) + ": a row of " +
                                                 std::to_string(longest) + " * inner elements of " +
                                                 std::to_string(shape.element_bytes) +
                                                 " bytes must not be longer than 2^48 bytes");
  }
}

std::uint64_t moving_group(const IndexMap& map) {
  std::span<const std::uint32_t> sources = map.sources();
  // Every place where the sources do not go on by one starts a group, on both sides. Where none does, the group goes
  // on.
  std::uint64_t group = std::gcd(std::gcd(map.size(), map.source_size()), std::uint64_t{sources.front()});
  for (std::uint64_t position = 1; position < sources.size() && group > 1; ++position) {
    if (std::uint64_t{sources[position]} != std::uint64_t{sources[position - 1]} + 1) {
      group = std::gcd(group, std::gcd(position, std::uint64_t{sources[position]}));
    }
  }
  return group;
}

IndexMap map_of_groups(const IndexMap& map, std::uint64_t group) {
  if (group == 1) {
    return map;
  }
  std::vector<std::uint32_t> sources(map.size() / group);
  for (std::uint64_t index = 0; index < sources.size(); ++index) {
    sources[index] = static_cast<std::uint32_t>(map[index * group] / group);
  }
  return {std::span<const std::uint32_t>(sources), map.source_size() / group};
}

BlockMap block_map(const IndexMap& map, const PermuteShape& shape) {
  check_shape(map, shape);
  std::uint64_t group = moving_group(map);
  std::uint64_t block_bytes = group * shape.inner * shape.element_bytes;
  auto unit_bytes = static_cast<unsigned>(std::gcd(block_bytes, k_widest_unit));
  return {map_of_groups(map, group), shape.element_bytes, unit_bytes, block_bytes / unit_bytes};
}

}  // namespace kiln::permutation
