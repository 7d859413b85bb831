// y[o, j, i] = x[o, map[j], i], one thread a unit, the map a literal table. For small launches, for blocks wide enough
// to be read in whole sectors, and for rows that do not fit in shared memory.
//
// A thread moves one `unit`; callers align their pointers to `element`; `offset` counts the units of a row. Rows have M
// = `blocks_out` blocks of `units_per_block` units in the output, N = `blocks_in` in the input. `table` holds M entries
// of `index_bits`, packed into words.
//
// kiln: parameter unit: type
// kiln: parameter element: type
// kiln: parameter offset: type
// kiln: parameter blocks_out: u32
// kiln: parameter blocks_in: u32
// kiln: parameter units_per_block: u64
// kiln: parameter threads: u32
// kiln: parameter index_bits: u32
// kiln: parameter table: u64[]
// kiln: entry permute
#include "kiln/direct.cuh"
#include "kiln/index_table.cuh"
#include "kiln/literal_table.cuh"
#include "kiln/values.h"

namespace {

// Ten rows of 36 took 1.07 us in a graph on an H200 with selects, 1.20 with loads, a copy of them 1.04. The tree grows
// with the table.
constexpr bool k_short_table = kiln::index_bits == 8 && kiln::blocks_out <= 64;

template <unsigned Number>
struct Literal {
  static constexpr unsigned value = static_cast<unsigned>(kiln::table[Number / 2] >> (Number % 2 * 32));
};

struct Index {
  template <typename Offset>
  __device__ __forceinline__ unsigned operator()(Offset j) const {
    if constexpr (k_short_table) {
      return kiln::select_entry<Literal, kiln::blocks_out>(static_cast<unsigned>(j));
    } else {
      return kiln::table_entry<kiln::index_bits>(kiln::table, j);
    }
  }
};

}  // namespace

__global__ void __launch_bounds__(kiln::threads)
    permute(void* __restrict__ y, const void* __restrict__ x, unsigned long long rows) {
  // Larger launches of such maps are staged.
  constexpr bool k_is_small = k_short_table && kiln::units_per_block == 1;
  kiln::permute_directly<kiln::unit, kiln::element, kiln::offset, k_is_small, kiln::threads, kiln::blocks_out,
                         kiln::blocks_in, kiln::units_per_block>(y, x, rows, Index());
}
