// y[o, j, i] = x[o, map[j], i], one thread a unit, for rows that need not stand side by side: for small launches, for
// blocks wide enough to be read in whole sectors, and for rows that do not fit in shared memory.
//
// A thread moves one `unit`; callers align their pointers to `element`; `offset` counts the units of a row. Rows have M
// = `blocks_out` blocks of `units_per_block` units in the output. From the start of a row to that of the next it is
// `stride_in` bytes in x and `stride_out` in y. `table` holds M entries of `index_bits`, packed into words; or they are
// `table_bytes` bytes of module data. With `has_ending` a unit is an element, changed on its way as permute_rows says.
//
// kiln: parameter unit: type
// kiln: parameter element: type
// kiln: parameter offset: type
// kiln: parameter blocks_out: u32
// kiln: parameter units_per_block: u64
// kiln: parameter stride_out: u64
// kiln: parameter stride_in: u64
// kiln: parameter threads: u32
// kiln: parameter index_bits: u32
// kiln: parameter table_bytes: u32
// kiln: parameter table: u64[]
// kiln: parameter has_ending: bool
// kiln: parameter from: type = kiln::F32
// kiln: parameter to: type = kiln::F32
// kiln: parameter ending: code = value
// kiln: parameter lists: code = ;
// kiln: entry permute
#include "kiln/ending.cuh"
#include "kiln/index_table.cuh"
#include "kiln/memory.cuh"
#include "kiln/table_source.cuh"

namespace {

constexpr unsigned long long k_row = kiln::blocks_out * kiln::units_per_block;  // units

// Of y: what a unit becomes.
using Output = typename kiln::EitherOf<kiln::has_ending, kiln::to::Bits, kiln::unit>::Type;

/// Unit `in_row` of row `row`.
template <bool Aligned>
__device__ __forceinline__ void move_unit(unsigned char* y, const unsigned char* x, unsigned long long row,
                                          kiln::offset in_row) {
  constexpr kiln::offset k_units = static_cast<kiln::offset>(kiln::units_per_block);
  const unsigned block = kiln::table_entry<kiln::index_bits>(kiln::packed_table(), in_row / k_units);
  unsigned char* to = y + row * kiln::stride_out + in_row * static_cast<unsigned long long>(sizeof(Output));
  const unsigned char* from =
      x + row * kiln::stride_in + (block * kiln::units_per_block + in_row % k_units) * sizeof(kiln::unit);
  if constexpr (kiln::has_ending) {
    const auto bits = kiln::load_constant<kiln::from::Bits>(from);
    kiln::store_streaming(to, kiln::changed<kiln::from, kiln::to>(bits, static_cast<unsigned>(in_row)));
  } else if constexpr (Aligned) {
    kiln::store_streaming(to, kiln::load_constant<kiln::unit>(from));
  } else {
#pragma unroll
    for (unsigned part = 0; part < sizeof(kiln::unit); part += sizeof(kiln::element)) {
      kiln::store(to + part, kiln::load_constant<kiln::element>(from + part));
    }
  }
}

}  // namespace

__global__ void __launch_bounds__(kiln::threads)
    permute(void* __restrict__ y, const void* __restrict__ x, unsigned long long rows) {
  const bool aligned =
      kiln::is_aligned(y, sizeof(Output)) && kiln::is_aligned(x, sizeof(kiln::unit));  // so is every row
  const unsigned long long total = rows * k_row;
  const unsigned long long blocks = static_cast<unsigned long long>(gridDim.x) * gridDim.y;
  const unsigned long long block = blockIdx.x + static_cast<unsigned long long>(gridDim.x) * blockIdx.y;
  for (unsigned long long base = block * kiln::threads; base < total; base += blocks * kiln::threads) {
    if (base + threadIdx.x >= total) {
      return;
    }
    // The block's first unit is found in 64 bits, once for all of its threads; the rest fits in the offset's type.
    const unsigned long long first_row = base / k_row;
    const kiln::offset unit = static_cast<kiln::offset>(base - first_row * k_row) + threadIdx.x;
    const unsigned long long row = first_row + unit / static_cast<kiln::offset>(k_row);
    const kiln::offset in_row = unit % static_cast<kiln::offset>(k_row);
    if (aligned) {
      move_unit<true>(static_cast<unsigned char*>(y), static_cast<const unsigned char*>(x), row, in_row);
    } else {
      move_unit<false>(static_cast<unsigned char*>(y), static_cast<const unsigned char*>(x), row, in_row);
    }
  }
}
