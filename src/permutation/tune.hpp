#pragma once

#include "kiln/permuter.hpp"

namespace kiln::permutation {

/// The strategy that is fastest on the current context's device: as the service's cache remembers it, else measured and
/// remembered there. `target` is not native. See Permuter::tune.
PermuteStrategy tuned_strategy(const Permuter& permuter, const Service& service, const IndexMap& map,
                               const PermuteShape& shape, const Target& target);

}  // namespace kiln::permutation
