#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "emulation/block_runner.hpp"
#include "emulation/host_library.hpp"
#include "emulation/launch_check.hpp"
#include "emulation/sanitizers.hpp"
#include "kiln/emulator.hpp"
#include "kiln/error.hpp"

namespace kiln {

struct EmulatedKernel::State {
  State(const Source& source, const Target& its_target)
      : name(source.name), entries(source.entries), target(its_target), library(source, its_target) {}
  std::string name;
  std::vector<std::string> entries;
  Target target;
  emulation::HostLibrary library;
  emulation::BlockRunner runner{library.module()};
};

namespace {

namespace abi = kiln_emulation;

/// The shared memory of one launch: garbage when a block starts, and not one byte beyond what was asked for.
class SharedMemory {
 public:
  SharedMemory(const abi::Module& module, unsigned bytes) : module_(module), bytes_(bytes) {
    emulation::sanitizers::poison(guard(), k_guard_bytes);
  }
  ~SharedMemory() { emulation::sanitizers::unpoison(guard(), k_guard_bytes); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  void start_block() const {
    std::memset(module_.dynamic_shared, abi::k_garbage, bytes_);
    const auto statics = static_cast<std::size_t>(module_.static_shared_end - module_.static_shared_begin);
    if (statics != 0) {
      std::memset(module_.static_shared_begin, abi::k_garbage, statics);
    }
    if (!emulation::sanitizers::k_address) {
      std::memset(guard(), abi::k_garbage, k_guard_bytes);
    }
  }

  /// Throws Error{invalid_argument} when the block wrote behind its dynamic shared memory.
  void check_guard() const {
    if (emulation::sanitizers::k_address) {
      return;
    }
    for (std::size_t i = 0; i < k_guard_bytes; ++i) {
      if (guard()[i] != abi::k_garbage) {
        const abi::Index3& block = *module_.block_index;
        throw Error(ErrorCode::invalid_argument, "block (" + std::to_string(block.x) + ", " + std::to_string(block.y) +
                                                     ", " + std::to_string(block.z) + ") wrote to offset " +
                                                     std::to_string(bytes_ + i) + " of its " + std::to_string(bytes_) +
                                                     " bytes of dynamic shared memory");
      }
    }
  }

 private:
  static constexpr std::size_t k_guard_bytes = abi::k_shared_guard_bytes;
  unsigned char* guard() const noexcept { return module_.dynamic_shared + bytes_; }

  const abi::Module& module_;
  std::size_t bytes_;
};

abi::Index3 index_of(const Dim3& size) { return {size.x, size.y, size.z}; }

}  // namespace

EmulatedKernel::EmulatedKernel(const Source& source, const Target& target) {
  if (target.is_native()) {
    throw Error(ErrorCode::invalid_argument,
                "emulation needs an explicit target: \"native\" names no architecture "
                "without a GPU; give one such as sm_90");
  }
  if (source.entries.empty()) {
    throw Error(ErrorCode::invalid_argument, "source " + source.name + " names no kernel to emulate");
  }
  state_ = std::make_shared<State>(source, target);
}

void EmulatedKernel::launch(const LaunchConfig& config, std::span<const Argument> arguments, std::size_t entry) const {
  const abi::Module& module = state_->library.module();
  if (entry >= state_->entries.size()) {
    throw Error(ErrorCode::invalid_argument, "entry " + std::to_string(entry) + " of " + state_->name +
                                                 " does not exist; it has " + std::to_string(state_->entries.size()));
  }
  emulation::check_shape(config, state_->target);
  emulation::check_arguments(arguments, module.entries[entry], state_->entries[entry]);

  std::vector<void*> addresses;
  for (const Argument& argument : arguments) {
    addresses.push_back(const_cast<void*>(argument.address));
  }
  *module.block_dim = index_of(config.block);
  *module.grid_dim = index_of(config.grid);
  *module.cluster_dim = index_of(config.cluster);
  const SharedMemory shared(module, config.shared_bytes);
  std::size_t number = 0;
  for (unsigned z = 0; z < config.grid.z; ++z) {
    for (unsigned y = 0; y < config.grid.y; ++y) {
      for (unsigned x = 0; x < config.grid.x; ++x) {
        *module.block_index = {x, y, z};
        shared.start_block();
        state_->runner.run(module.entries[entry], addresses.data(), *module.block_dim, number++);
        shared.check_guard();
      }
    }
  }
}

void EmulatedKernel::set_data(const ModuleData& data) const { state_->library.write(data.symbol, data.bytes); }

}  // namespace kiln
