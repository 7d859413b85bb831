#include "emulation/launch_check.hpp"

#include <cstdint>

#include "kiln/error.hpp"

namespace kiln::emulation {
namespace {

constexpr std::uint64_t k_max_threads = 1024;
constexpr std::uint64_t k_max_cluster = 16;
constexpr int k_first_with_clusters = 90;

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

std::string text_of(const Dim3& size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
}

std::uint64_t volume(const Dim3& size) { return std::uint64_t{size.x} * size.y * size.z; }

void check_limit(const char* name, const Dim3& size, const Dim3& limit) {
  if (size.x == 0 || size.y == 0 || size.z == 0 || size.x > limit.x || size.y > limit.y || size.z > limit.z) {
    refuse(std::string(name) + " is " + text_of(size) + "; each size must be at least 1 and at most " + text_of(limit));
  }
}

void check_cluster(const LaunchConfig& config, const Target& target) {
  const Dim3& cluster = config.cluster;
  if (cluster.x == 0 || cluster.y == 0 || cluster.z == 0) {
    refuse("cluster is " + text_of(cluster) + "; each size must be at least 1");
  }
  if (volume(cluster) == 1) {
    return;
  }
  if (target.capability() < k_first_with_clusters) {
    refuse("cluster is " + text_of(cluster) + ", but " + target.text() + " has no clusters; they need sm_90 or newer");
  }
  if (volume(cluster) > k_max_cluster) {
    refuse("cluster is " + text_of(cluster) + "; at most 16 blocks can be in one");
  }
  if (config.grid.x % cluster.x != 0 || config.grid.y % cluster.y != 0 || config.grid.z % cluster.z != 0) {
    refuse("cluster is " + text_of(cluster) + ", which does not divide the grid, " + text_of(config.grid));
  }
}

}  // namespace

void check_shape(const LaunchConfig& config, const Target& target) {
  check_limit("grid", config.grid, {0x7fffffff, 65535, 65535});
  check_limit("block", config.block, {1024, 1024, 64});
  if (volume(config.block) > k_max_threads) {
    refuse("block is " + text_of(config.block) + " = " + std::to_string(volume(config.block)) +
           " threads; at most 1024 can be in one");
  }
  if (config.shared_bytes > kiln_emulation::k_max_shared_bytes) {
    refuse("shared_bytes is " + std::to_string(config.shared_bytes) + "; a block can have at most " +
           std::to_string(kiln_emulation::k_max_shared_bytes) + " (227 KiB)");
  }
  check_cluster(config, target);
  if (config.cooperative && volume(config.grid) > 1) {
    refuse("the launch is cooperative, but emulated blocks run one after another and cannot wait for each other");
  }
}

void check_arguments(std::span<const Argument> arguments, const kiln_emulation::Entry& entry, const std::string& name) {
  if (arguments.size() != entry.count) {
    refuse("kernel " + name + " has " + std::to_string(entry.count) + " parameters, but " +
           std::to_string(arguments.size()) + " arguments were given");
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].size != entry.sizes[i]) {
      refuse("argument " + std::to_string(i) + " of kernel " + name + " has " + std::to_string(arguments[i].size) +
             " bytes; the parameter has " + std::to_string(entry.sizes[i]));
    }
  }
}

}  // namespace kiln::emulation
