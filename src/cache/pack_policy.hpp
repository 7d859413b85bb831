#pragma once

namespace kiln::cache {

/// Which compilers a pack's rows serve.
enum class PackPolicy {
  any,   ///< all: the pack was made so that no compiler is needed
  same,  ///< only the one installed, as for the user cache
};

}  // namespace kiln::cache
