#pragma once

#include "kiln/value.hpp"
#include "permutation/analysis.hpp"

namespace kiln::permutation {

/// The parameters `unit` and `element` that every permutation's template has: bits of the size that moves as a whole,
/// and of the size that pointers are aligned to. Pure.
Values unit_values(const BlockMap& blocks);

}  // namespace kiln::permutation
