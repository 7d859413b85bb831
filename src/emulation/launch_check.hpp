#pragma once

#include <span>
#include <string>

#include "emulation/device/abi.h"
#include "kiln/kernel.hpp"
#include "kiln/target.hpp"

namespace kiln::emulation {

/// Throws Error{invalid_argument} naming the field when no GPU of `target` would accept the shape.
void check_shape(const LaunchConfig& config, const Target& target);

/// Throws Error{invalid_argument} naming the argument when the number or a size is not the kernel's.
void check_arguments(std::span<const Argument> arguments, const kiln_emulation::Entry& entry, const std::string& name);

}  // namespace kiln::emulation
