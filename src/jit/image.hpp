#pragma once

#include <cstddef>
#include <span>

#include "kiln/target.hpp"

namespace kiln::jit {

/// A device of `capability` (major * 10 + minor) can run code for `target`. A plain cubin: same major, minor not above
/// the device's; `f`: the same, for the family; `a`: exactly that device. PTX: any device not older, `a` and `f` by
/// their rules.
bool runs_on(const Target& target, int capability) noexcept;

/// `image` is a 64-bit ELF file none of whose tables and sections reach beyond its end. The driver is told no length,
/// so it would read past a truncated one.
bool is_whole_elf(std::span<const std::byte> image) noexcept;

}  // namespace kiln::jit
