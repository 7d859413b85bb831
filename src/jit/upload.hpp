#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "jit/library.hpp"

namespace kiln::jit {

/// Writes `data` to the library's variable `symbol` in the current context. The bytes are there when this returns,
/// whatever stream a kernel is then launched on; no work of the application is waited for. Throws
/// Error{invalid_argument} naming the symbol and both sizes when the variable is smaller, DriverError otherwise.
void upload(const Library& library, const std::string& symbol, std::span<const std::byte> data);

}  // namespace kiln::jit
