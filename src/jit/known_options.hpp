#pragma once

#include <string_view>

namespace kiln::jit {

/// An option of NVRTC as Kiln knows it.
struct KnownOption {
  std::string_view name;     ///< the canonical spelling
  std::string_view alias;    ///< the short one, or empty
  bool takes_value = false;  ///< which may follow as an argument of its own
  std::string_view remedy;   ///< not empty: Kiln reserves the option; what to do instead
};

/// By either spelling, with one dash or two. Null for an option that is not known.
const KnownOption* find_option(std::string_view name) noexcept;

}  // namespace kiln::jit
