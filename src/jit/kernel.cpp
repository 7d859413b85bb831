#include "kiln/kernel.hpp"

#include "jit/launch.hpp"

namespace kiln {

void Kernel::launch_arguments(const LaunchConfig& config, std::span<const Argument> arguments) const {
  loaded_->launch(config, arguments);
}

void Kernel::allow_shared_bytes(unsigned bytes) const { loaded_->allow_shared_bytes(bytes); }

unsigned Kernel::resident_blocks(unsigned threads, unsigned shared_bytes) const {
  return loaded_->resident_blocks(threads, shared_bytes);
}

const EntryPoint& Kernel::entry() const noexcept { return loaded_->entry(); }
const Artifact& Kernel::artifact() const noexcept { return loaded_->artifact(); }
CUfunc_st* Kernel::function() const noexcept { return loaded_->function(); }

}  // namespace kiln
