#pragma once

#include <cstdint>
#include <vector>

#include "kiln/permuter.hpp"
#include "permutation/row_bytes.hpp"

namespace kiln::permutation {

/// Milliseconds that each of the kernels takes to move the same rows on the current context's device, on memory of this
/// function's: x, y and the most scratch memory that one of them wants, 1 GiB in all at most unless a single row takes
/// more. `typical_rows` rows, or as many as keep the device busy where that is 0 or more than fit. Where the device has
/// less memory left, fewer rows. Waits for the measurement, and for nothing of the application's. Throws DriverError;
/// nothing is left allocated. Not while a stream of this context is being captured.
std::vector<double> measure(const std::vector<PermuteKernel>& kernels, const RowBytes& bytes,
                            std::uint64_t typical_rows);

}  // namespace kiln::permutation
