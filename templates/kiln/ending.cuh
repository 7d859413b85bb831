// What is done to each element on its way: the caller's expression, between what its bits stand for and the bits that
// its result is written as.
#pragma once

#include "kiln/numbers.cuh"
#include "kiln/values.h"

// Apart from all else, so that the expression's names are its own, the lists', and CUDA's.
namespace kiln_ending {

/// `value`: of an element of x; `position`: j * inner + i of y.
__device__ __forceinline__ auto ending([[maybe_unused]] kiln::from::Value value,
                                       [[maybe_unused]] unsigned int position) {
#include "kiln/code/lists.h"
  return (
#include "kiln/code/ending.h"
  );
}

}  // namespace kiln_ending

namespace kiln {

template <bool First, typename One, typename Other>
struct EitherOf {
  using Type = One;
};
template <typename One, typename Other>
struct EitherOf<false, One, Other> {
  using Type = Other;
};

/// An element of x as one of y.
template <typename From, typename To>
__device__ __forceinline__ typename To::Bits changed(typename From::Bits bits, unsigned int position) {
  return bits_for<To>(kiln_ending::ending(From::decode(bits), position));
}

}  // namespace kiln
