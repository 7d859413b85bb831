#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace kiln::jit {

/// What a cubin says of one kernel.
struct KernelResources {
  int registers = 0;
  std::int64_t shared_bytes = 0;  ///< static, without what the driver reserves
  std::int64_t local_bytes = 0;   ///< the stack frame
  friend bool operator==(const KernelResources&, const KernelResources&) = default;
};

/// Reads a cubin's ELF sections; kernels by their symbol. Pure; a malformed image gives what could be read of it, never
/// a read outside it.
///
/// A cubin is a 64-bit little-endian ELF. Section `.nv.info` is a list of attributes: a byte for the format, a byte for
/// the attribute, two bytes that are a value or, in format 4, the size of the value that follows. Attributes 0x2f
/// (register count) and 0x11 (frame size) hold a symbol's number and a count, 32 bits each. The size of section
/// `.nv.shared.NAME` is the static shared memory of kernel NAME; from sm_90 on it starts with 1 KiB that belongs to the
/// driver.
std::map<std::string, KernelResources> read_cubin(std::span<const std::byte> image, int capability);

}  // namespace kiln::jit
