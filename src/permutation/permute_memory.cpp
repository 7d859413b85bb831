#include "permutation/permute_memory.hpp"

namespace kiln::permutation {

std::size_t PermuteIdHash::operator()(const PermuteId& id) const noexcept {
  // The digest's bits are uniform already; the other fields are small numbers, spread by odd constants.
  std::uint64_t rest = id.context * 0x9E3779B97F4A7C15U;
  rest = (rest ^ id.shape.element_bytes ^ (id.shape.inner << 5)) * 0xC2B2AE3D27D4EB4FU;
  rest =
      (rest ^ id.shape.typical_rows ^ (static_cast<std::uint64_t>(id.target.capability()) << 44)) * 0x165667B19E3779F9U;
  return static_cast<std::size_t>(id.map.digest().second ^ rest ^ (rest >> 32));
}

}  // namespace kiln::permutation
