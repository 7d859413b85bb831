// y[o, j] = x[o, map[j]] for maps that are axis swaps: a tile of a row goes through shared memory, read in runs of x
// and written in runs of y. There is no table: every place is computed from digits in mixed radix, whose radices and
// strides are literals.
//
// A `unit` moves as a whole; callers align their pointers to `element`. Rows have `row_out` units in the output,
// `row_in` in the input. `offset` counts the units of a row, and may be negative.
//
// `outer_digits` has three numbers for each digit of a tile's number in its row, which has `tiles`, the fastest digit
// first: how many tiles, units of x that a step goes, units of y.
//
// `load_digits` has five numbers for each digit of a tile's places in the order of x, the fastest first: how many,
// units of x that a step goes, bytes of shared memory, and how much nearer it comes to either edge. The first place of
// the row's first tile is unit `load_base` of x, and is at `load_edges`. `store_digits` has the same in the order of y,
// with units of y; the first place is byte `store_base` of shared memory, and at neither edge. Threads move
// `load_units` and `store_units` neighbours at a time, which are on boundaries of as many where x and y are.
//
// `edge_a` and `edge_b` are where the last tiles of a row are parts: the number of an outer digit, how far tiles are
// apart, the size, and by how much to multiply what is left where a tile is loaded and where it is stored. A place is
// moved if it is nearer than that. All 0 where there is no edge.
//
// `wraps`: sources behind the row begin again at its start.
//
// kiln: parameter unit: type
// kiln: parameter element: type
// kiln: parameter offset: type
// kiln: parameter row_out: u64
// kiln: parameter row_in: u64
// kiln: parameter tiles: u32
// kiln: parameter outer_digits: i64[]
// kiln: parameter load_digits: i64[]
// kiln: parameter load_base: u64
// kiln: parameter load_edges: i64[2]
// kiln: parameter load_units: u32
// kiln: parameter store_digits: i64[]
// kiln: parameter store_base: u32
// kiln: parameter store_units: u32
// kiln: parameter edge_a: i64[5]
// kiln: parameter edge_b: i64[5]
// kiln: parameter wraps: bool
// kiln: parameter threads: u32
// kiln: entry permute
#include "kiln/digits.cuh"
#include "kiln/pack.cuh"
#include "kiln/values.h"

extern __shared__ uint4 kiln_shared[];

namespace kiln {

struct LoadSide {
  static constexpr unsigned k_digits = load_digits_length / k_digit_fields;
  static constexpr unsigned k_units = load_units;
  template <unsigned Number, unsigned Field>
  static constexpr long long k_field = load_digits[Number * k_digit_fields + Field];
};

struct StoreSide {
  static constexpr unsigned k_digits = store_digits_length / k_digit_fields;
  static constexpr unsigned k_units = store_units;
  template <unsigned Number, unsigned Field>
  static constexpr long long k_field = store_digits[Number * k_digit_fields + Field];
};

constexpr bool k_has_edge_a = edge_a[2] != 0;
constexpr bool k_has_edge_b = edge_b[2] != 0;
constexpr unsigned k_outer_fields = 3;
constexpr unsigned k_outer = outer_digits_length / k_outer_fields;

/// Where a tile starts in its row, and how far it is to the edges.
struct Corner {
  offset source;
  offset output;
  offset left_a;
  offset left_b;
};

template <unsigned Number>
__device__ __forceinline__ void add_outer(Corner& corner, unsigned rest) {
  if constexpr (Number < k_outer) {
    constexpr unsigned k_count = static_cast<unsigned>(outer_digits[Number * k_outer_fields]);
    const auto digit = static_cast<offset>(Number + 1 == k_outer ? rest : rest % k_count);
    corner.source += digit * static_cast<offset>(outer_digits[Number * k_outer_fields + 1]);
    corner.output += digit * static_cast<offset>(outer_digits[Number * k_outer_fields + 2]);
    if constexpr (k_has_edge_a && edge_a[0] == Number) {
      corner.left_a -= digit * static_cast<offset>(edge_a[1]);
    }
    if constexpr (k_has_edge_b && edge_b[0] == Number) {
      corner.left_b -= digit * static_cast<offset>(edge_b[1]);
    }
    add_outer<Number + 1>(corner, rest / k_count);
  }
}

__device__ __forceinline__ bool is_inside(const Place<offset>& place, offset left_a, offset left_b) {
  if constexpr (k_has_edge_a) {
    if (place.edge_a >= left_a) {
      return false;
    }
  }
  if constexpr (k_has_edge_b) {
    if (place.edge_b >= left_b) {
      return false;
    }
  }
  return true;
}

/// A tile's vectors on either side, and how many a thread has on their way at a time: the narrower, the more; but of
/// two bytes each it is slower with more.
template <typename Side>
constexpr unsigned k_vectors = k_places<Side> / Side::k_units;
constexpr unsigned k_stores = 4;
constexpr unsigned k_load_bytes = load_units * sizeof(unit);
constexpr unsigned k_loads = k_load_bytes >= 16 || k_load_bytes == 2 ? 4 : k_load_bytes == 8 ? 8 : 16;

__device__ __forceinline__ void load_tile(unsigned char* shared, const unsigned char* row, const Corner& corner,
                                          bool aligned) {
  using Units = Pack<unit, load_units>;
  constexpr unsigned k_piece = k_shared_piece<LoadSide, unit>;
  const Place<offset> first = {static_cast<offset>(load_base) + corner.source, 0, static_cast<offset>(load_edges[0]),
                               static_cast<offset>(load_edges[1])};
  const offset left_a = corner.left_a * static_cast<offset>(edge_a[3]);
  const offset left_b = corner.left_b * static_cast<offset>(edge_b[3]);
#pragma unroll 1
  for (unsigned base = threadIdx.x; base < k_vectors<LoadSide>; base += k_loads * threads) {
    Units units[k_loads];
    int places[k_loads];
#pragma unroll
    for (unsigned item = 0; item < k_loads; ++item) {
      const unsigned vector = base + item * threads;
      places[item] = -1;
      if (vector < k_vectors<LoadSide>) {
        Place<offset> place = first;
        add_digits<LoadSide>(place, vector * load_units);
        if (is_inside(place, left_a, left_b)) {
          places[item] = place.shared;
          if constexpr (wraps) {
            place.global -= place.global >= static_cast<offset>(row_in) ? static_cast<offset>(row_in) : 0;
          }
          units[item] = read_pack<Units, element>(row + static_cast<long long>(place.global) * sizeof(unit), aligned);
        }
      }
    }
#pragma unroll
    for (unsigned item = 0; item < k_loads; ++item) {
      if (places[item] >= 0) {
#pragma unroll
        for (unsigned at = 0; at < load_units * sizeof(unit); at += k_piece) {
          Place<offset> behind = {};
          add_digits<LoadSide>(behind, at / sizeof(unit));
          store(shared + places[item] + behind.shared, units[item].template piece<k_piece>(at));
        }
      }
    }
  }
}

__device__ __forceinline__ void store_tile(unsigned char* row, const unsigned char* shared, const Corner& corner,
                                           bool aligned) {
  using Units = Pack<unit, store_units>;
  const Place<offset> first = {corner.output, static_cast<int>(store_base), 0, 0};
  const offset left_a = corner.left_a * static_cast<offset>(edge_a[4]);
  const offset left_b = corner.left_b * static_cast<offset>(edge_b[4]);
#pragma unroll(k_stores)
  for (unsigned vector = threadIdx.x; vector < k_vectors<StoreSide>; vector += threads) {
    Place<offset> place = first;
    add_digits<StoreSide>(place, vector * store_units);
    if (is_inside(place, left_a, left_b)) {
      Units units;
#pragma unroll
      for (unsigned number = 0; number < store_units; ++number) {
        Place<offset> next = k_is_steady<StoreSide> ? place : first;
        add_digits<StoreSide>(next, k_is_steady<StoreSide> ? number : vector * store_units + number);
        units.of[number] = load<unit>(shared + next.shared);
      }
      write_pack<element>(row + static_cast<long long>(place.global) * sizeof(unit), units, aligned);
    }
  }
}

}  // namespace kiln

__global__ void __launch_bounds__(kiln::threads)
    permute(void* __restrict__ y, const void* __restrict__ x, unsigned long long rows) {
  const unsigned long long block = blockIdx.x + static_cast<unsigned long long>(gridDim.x) * blockIdx.y;
  const unsigned long long row = block / kiln::tiles;
  if (row < rows) {
    kiln::Corner corner = {0, 0, static_cast<kiln::offset>(kiln::edge_a[2]),
                           static_cast<kiln::offset>(kiln::edge_b[2])};
    kiln::add_outer<0>(corner, static_cast<unsigned>(block - row * kiln::tiles));
    unsigned char* shared = reinterpret_cast<unsigned char*>(kiln_shared);
    kiln::load_tile(shared, static_cast<const unsigned char*>(x) + row * (kiln::row_in * sizeof(kiln::unit)), corner,
                    kiln::is_aligned(x, kiln::load_units * sizeof(kiln::unit)));
    __syncthreads();
    kiln::store_tile(static_cast<unsigned char*>(y) + row * (kiln::row_out * sizeof(kiln::unit)), shared, corner,
                     kiln::is_aligned(y, kiln::store_units * sizeof(kiln::unit)));
  }
}
