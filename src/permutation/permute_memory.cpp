#include "permutation/permute_memory.hpp"

#include <functional>
#include <string>

namespace kiln::permutation {

std::size_t PermuteIdHash::operator()(const PermuteId& id) const noexcept {
  // The digest's bits are uniform already; the other fields are small numbers, spread by odd constants.
  std::uint64_t rest = id.context * 0x9E3779B97F4A7C15U;
  rest = (rest ^ id.shape.element_bytes ^ (id.shape.inner << 5)) * 0xC2B2AE3D27D4EB4FU;
  rest =
      (rest ^ id.shape.typical_rows ^ (static_cast<std::uint64_t>(id.target.capability()) << 44)) * 0x165667B19E3779F9U;
  rest = (rest ^ id.shape.row_stride_in ^ (id.shape.row_stride_out << 20) ^ (id.shape.in_place ? 1U : 0U) ^
          (id.shape.ending ? std::hash<std::string>()(id.shape.ending->expression) + id.shape.ending->to.size() : 0)) *
         0x27D4EB2F165667C5U;
  return static_cast<std::size_t>(id.map.digest().second ^ rest ^ (rest >> 32));
}

}  // namespace kiln::permutation
