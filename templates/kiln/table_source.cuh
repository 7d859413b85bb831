// A packed index table (index_table.cuh) that stands in the source as `table`, or, where that would be too long, is
// written to kiln_table after loading: `table_bytes` bytes of it, whole vectors.
#pragma once

#include "kiln/values.h"

extern "C" {
__device__ __align__(16) unsigned int kiln_table[kiln::table_bytes == 0 ? 1 : kiln::table_bytes / 4];
}

namespace kiln {

__device__ __forceinline__ const unsigned long long* packed_table() {
  if constexpr (table_bytes == 0) {
    return table;
  } else {
    return reinterpret_cast<const unsigned long long*>(kiln_table);
  }
}

}  // namespace kiln
