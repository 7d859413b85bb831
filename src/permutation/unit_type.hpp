#pragma once

#include "kiln/value.hpp"
#include "permutation/analysis.hpp"

namespace kiln::permutation {

/// The template parameters `unit` and `element`: bits of their sizes. No header needs to be included for any of these.
Values unit_values(const BlockMap& blocks);

}  // namespace kiln::permutation
