// Places in a tile by their digits in mixed radix. A side of a tile is a type with k_digits, k_units (neighbours that
// move as a vector) and k_field<Number, Field>: for each digit, the fastest first, how many it counts, and what a step
// of it adds to each part of a place.
#pragma once

namespace kiln {

constexpr unsigned k_digit_fields = 5;

template <typename Offset>
struct Place {
  Offset global;  // units
  int shared;     // bytes
  Offset edge_a;
  Offset edge_b;
};

/// Adds the place whose number on this side is `index`.
template <typename Side, unsigned Number = 0, typename Offset>
__device__ __forceinline__ void add_digits(Place<Offset>& place, unsigned index) {
  if constexpr (Number < Side::k_digits) {
    constexpr unsigned k_extent = static_cast<unsigned>(Side::template k_field<Number, 0>);
    const unsigned digit = Number + 1 == Side::k_digits ? index : index % k_extent;
    place.global += static_cast<Offset>(digit) * static_cast<Offset>(Side::template k_field<Number, 1>);
    place.shared += static_cast<int>(digit) * static_cast<int>(Side::template k_field<Number, 2>);
    place.edge_a += static_cast<Offset>(digit) * static_cast<Offset>(Side::template k_field<Number, 3>);
    place.edge_b += static_cast<Offset>(digit) * static_cast<Offset>(Side::template k_field<Number, 4>);
    add_digits<Side, Number + 1>(place, index / k_extent);
  }
}

template <typename Side, unsigned Number = 0>
__device__ constexpr unsigned count_places() {
  if constexpr (Number == Side::k_digits) {
    return 1;
  } else {
    return static_cast<unsigned>(Side::template k_field<Number, 0>) * count_places<Side, Number + 1>();
  }
}

/// Of a tile.
template <typename Side>
constexpr unsigned k_places = count_places<Side>();

/// Is a vector whole digits and a divisor of the next one? `count` is left of its units.
template <typename Side, unsigned Number = 0>
__device__ constexpr bool divides_digits(unsigned count) {
  if constexpr (Number == Side::k_digits) {
    return count == 1;
  } else {
    constexpr unsigned k_extent = static_cast<unsigned>(Side::template k_field<Number, 0>);
    return count <= k_extent ? k_extent % count == 0
                             : count % k_extent == 0 && divides_digits<Side, Number + 1>(count / k_extent);
  }
}

/// Are a vector's units as far from its first in every vector?
template <typename Side>
constexpr bool k_is_steady = divides_digits<Side>(Side::k_units);

__device__ constexpr unsigned greatest_divisor(unsigned a, unsigned b) {
  return b == 0 ? a : greatest_divisor(b, a % b);
}

template <typename Side, unsigned UnitBytes, unsigned Number = 0>
__device__ constexpr unsigned shared_piece(unsigned together, unsigned units) {
  if constexpr (Number == Side::k_digits) {
    return together;
  } else {
    constexpr long long k_step = Side::template k_field<Number, 2>;
    if (k_step != static_cast<long long>(units) * UnitBytes) {
      together = greatest_divisor(greatest_divisor(together, units * UnitBytes),
                                  static_cast<unsigned>(k_step < 0 ? -k_step : k_step));
    }
    return shared_piece<Side, UnitBytes, Number + 1>(together,
                                                     units * static_cast<unsigned>(Side::template k_field<Number, 0>));
  }
}

/// Bytes of shared memory that a vector's neighbours can be moved by at once.
template <typename Side, typename Unit>
constexpr unsigned k_shared_piece = shared_piece<Side, sizeof(Unit)>(Side::k_units * sizeof(Unit), 1);

}  // namespace kiln
