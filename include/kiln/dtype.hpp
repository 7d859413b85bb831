#pragma once

#include <span>
#include <string_view>

#include "kiln/export.h"

namespace kiln {

/// An element type by the name that plans and the command line take. A permutation moves bits, so only the size
/// matters to it.
struct Dtype {
  std::string_view name;  ///< "f32", "bf16", "b128"
  unsigned bytes = 0;     ///< 1, 2, 4, 8 or 16
};

/// All of them, by size.
KILN_EXPORT std::span<const Dtype> dtypes() noexcept;

/// Bytes of one element. Throws Error{invalid_argument} listing the names when there is none such.
KILN_EXPORT unsigned dtype_bytes(std::string_view name);

}  // namespace kiln
