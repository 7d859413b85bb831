#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "emulation/device/abi.h"
#include "kiln/source.hpp"
#include "kiln/target.hpp"
#include "support/unique_handle.hpp"

namespace kiln::emulation {

/// A source compiled for the host and loaded. Its files are gone by then.
class HostLibrary {
 public:
  /// Throws Error{host_compiler} with the command and what the compiler or the loader says.
  HostLibrary(const Source& source, const Target& target);

  const kiln_emulation::Module& module() const noexcept { return *module_; }
  /// Copies `bytes` over the start of a variable. Throws Error{invalid_argument} naming a symbol that is not there or
  /// is too small.
  void write(const std::string& symbol, std::span<const std::byte> bytes) const;

 private:
  struct Traits {
    using Type = void*;
    static Type invalid() noexcept { return nullptr; }
    static void close(Type handle) noexcept;
  };
  support::UniqueHandle<Traits> handle_;
  const kiln_emulation::Module* module_ = nullptr;
};

}  // namespace kiln::emulation
