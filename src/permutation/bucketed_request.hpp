#pragma once

#include "kiln/permuter.hpp"
#include "permutation/bucketed.hpp"

namespace kiln::permutation {

/// The kernels and launches of a permutation in two passes; no reason is given. Pure, O(M).
PermuteRequest bucketed_request(const BlockMap& blocks, const Bucketed& bucketed);

}  // namespace kiln::permutation
