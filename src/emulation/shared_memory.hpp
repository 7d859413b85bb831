#pragma once

#include <string>
#include <string_view>

namespace kiln::emulation {

/// A source's text with its `__shared__` declarations made such that a host compiler can take them: a dynamic array
/// (`extern __shared__ T name[];`, whatever its name and type) becomes a reference to the launch's dynamic shared
/// memory, and `static` beside `__shared__` is dropped, since the macro brings it. Lines stay where they are. Pure.
std::string prepare_shared_memory(std::string_view text);

}  // namespace kiln::emulation
