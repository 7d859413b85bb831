// y[i] = c[0] + c[1] x[i] + c[2] x[i]^2 + …, the coefficients literals, so that the loop unrolls and zeros vanish.
//
// kiln: parameter element: type
// kiln: parameter coefficients: f64[]
// kiln: entry polynomial
#include "kiln/values.h"

__global__ void polynomial(kiln::element* y, const kiln::element* x, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  constexpr int k_count = sizeof(kiln::coefficients) / sizeof(kiln::coefficients[0]);
  kiln::element sum = 0;
#pragma unroll
  for (int k = k_count - 1; k >= 0; --k) {
    sum = sum * x[i] + static_cast<kiln::element>(kiln::coefficients[k]);
  }
  y[i] = sum;
}
