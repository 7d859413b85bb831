#include "permutation/unit_type.hpp"

#include <algorithm>

namespace kiln::permutation {

namespace {

TypeName unit_type(unsigned bytes) {
  switch (bytes) {
    case 1:
      return {"unsigned char"};
    case 2:
      return {"unsigned short"};
    case 4:
      return {"unsigned int"};
    case 8:
      return {"uint2"};
    default:
      return {"uint4"};
  }
}

}  // namespace

Values unit_values(const BlockMap& blocks) {
  unsigned aligned_bytes = std::min(blocks.element_bytes, blocks.unit_bytes);
  return {{"unit", unit_type(blocks.unit_bytes)}, {"element", unit_type(aligned_bytes)}};
}

}  // namespace kiln::permutation
