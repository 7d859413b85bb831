// y[o, j, i] = x[o, map[j], i], one thread a unit, the map written to kiln_table after loading: for maps of more
// entries than a source should hold as literals.
//
// A thread moves one `unit`; callers align their pointers to `element`; `offset` counts the units of a row. Rows have M
// = `blocks_out` blocks of `units_per_block` units in the output, N = `blocks_in` in the input.
//
// kiln: parameter unit: type
// kiln: parameter element: type
// kiln: parameter offset: type
// kiln: parameter blocks_out: u32
// kiln: parameter blocks_in: u32
// kiln: parameter units_per_block: u64
// kiln: parameter threads: u32
// kiln: entry permute
#include "kiln/direct.cuh"
#include "kiln/values.h"

extern "C" {
__device__ unsigned int kiln_table[kiln::blocks_out];
}

namespace {

struct Index {
  template <typename Offset>
  __device__ __forceinline__ unsigned operator()(Offset j) const {
    return kiln::load_constant<unsigned int>(kiln_table + j);
  }
};

}  // namespace

__global__ void __launch_bounds__(kiln::threads)
    permute(void* __restrict__ y, const void* __restrict__ x, unsigned long long rows) {
  kiln::permute_directly<kiln::unit, kiln::element, kiln::offset, false, kiln::threads, kiln::blocks_out,
                         kiln::blocks_in, kiln::units_per_block>(y, x, rows, Index());
}
