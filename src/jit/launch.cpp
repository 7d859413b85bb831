#include "jit/launch.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "jit/driver_api.hpp"
#include "kiln/error.hpp"

namespace kiln::jit {

namespace {

/// Arguments are passed through an array on the stack, so that a launch allocates nothing.
constexpr std::size_t k_max_arguments = 128;
/// More dynamic shared memory than this has to be allowed first.
constexpr unsigned k_default_shared_limit = 48 * 1024;

bool is_single(const Dim3& dim) noexcept { return dim.x == 1 && dim.y == 1 && dim.z == 1; }

std::string text(const Dim3& dim) {
  return "{" + std::to_string(dim.x) + ", " + std::to_string(dim.y) + ", " + std::to_string(dim.z) + "}";
}

std::string text(const LaunchConfig& config) {
  return "grid " + text(config.grid) + ", block " + text(config.block) +
         (is_single(config.cluster) ? "" : ", cluster " + text(config.cluster)) +
         (config.cooperative ? ", cooperative, " : ", ") + std::to_string(config.shared_bytes) +
         " bytes of dynamic shared memory";
}

std::string advice(int result, const LaunchConfig& config) {
  if (result == k_cuda_invalid_handle || result == k_cuda_invalid_context || result == k_cuda_context_is_destroyed) {
    return "; a kernel belongs to the context it was made for: get it again in the current one";
  }
  if (result == k_cuda_invalid_value && config.shared_bytes > k_default_shared_limit) {
    return "; above " + std::to_string(k_default_shared_limit) + " bytes Kernel::allow_shared_bytes must come first";
  }
  if (result == k_cuda_cooperative_launch_too_large) {
    return "; Kernel::resident_blocks tells how many blocks run at the same time";
  }
  return "";
}

CudaResult launch_with_attributes(const DriverApi& api, CUfunc_st* function, const LaunchConfig& config,
                                  void** arguments) {
  std::array<LaunchAttribute, 2> attributes{};
  unsigned count = 0;
  if (!is_single(config.cluster)) {
    LaunchAttribute& cluster = attributes[count++];
    cluster.id = k_launch_attribute_cluster;
    cluster.value.cluster[0] = config.cluster.x;
    cluster.value.cluster[1] = config.cluster.y;
    cluster.value.cluster[2] = config.cluster.z;
  }
  if (config.cooperative) {
    LaunchAttribute& cooperative = attributes[count++];
    cooperative.id = k_launch_attribute_cooperative;
    cooperative.value.cooperative = 1;
  }
  LaunchDescription description{{config.grid.x, config.grid.y, config.grid.z},
                                {config.block.x, config.block.y, config.block.z},
                                config.shared_bytes,
                                config.stream,
                                attributes.data(),
                                count};
  return api.launch_kernel_ex(&description, function, arguments, nullptr);
}

}  // namespace

void LoadedKernel::launch(const LaunchConfig& config, std::span<const Argument> arguments) const {
  Driver::require_usable();
  check_arguments(arguments);
  std::array<void*, k_max_arguments> addresses;  // left uninitialised beyond the arguments
  std::transform(arguments.begin(), arguments.end(), addresses.begin(),
                 [](const Argument& argument) { return const_cast<void*>(argument.address); });
  const DriverApi& api = library_->driver().api();
  if (is_single(config.cluster) && !config.cooperative) {
    CudaResult result =
        api.launch_kernel(function_, config.grid.x, config.grid.y, config.grid.z, config.block.x, config.block.y,
                          config.block.z, config.shared_bytes, config.stream, addresses.data(), nullptr);
    if (result != k_cuda_success) {
      throw_refused(result, "cuLaunchKernel", config);
    }
    return;
  }
  CudaResult result = launch_with_attributes(api, function_, config, addresses.data());
  if (result != k_cuda_success) {
    throw_refused(result, "cuLaunchKernelEx", config);
  }
}

void LoadedKernel::allow_shared_bytes(unsigned bytes) const {
  Driver::require_usable();
  const DriverApi& api = library_->driver().api();
  int value = static_cast<int>(std::min<unsigned>(bytes, std::numeric_limits<int>::max()));
  CudaResult result = api.func_set_attribute(function_, k_function_max_dynamic_shared_bytes, value);
  if (result != k_cuda_success) {
    throw_driver_error(api, result, "cuFuncSetAttribute",
                       describe() + ", to allow " + std::to_string(bytes) +
                           " bytes of dynamic shared memory beside its " + std::to_string(entry_.shared_bytes) +
                           " static ones" + advice(result, {}));
  }
}

unsigned LoadedKernel::resident_blocks(unsigned threads, unsigned shared_bytes) const {
  Driver::require_usable();
  const DriverApi& api = library_->driver().api();
  CudaDevice device = 0;
  int multiprocessors = 0;
  int blocks = 0;
  check(api, api.ctx_get_device(&device), "cuCtxGetDevice", "the current context");
  check(api, api.device_get_attribute(&multiprocessors, k_device_multiprocessors, device), "cuDeviceGetAttribute",
        "the number of multiprocessors");
  check(api, api.occupancy(&blocks, function_, static_cast<int>(threads), shared_bytes),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor", describe());
  return static_cast<unsigned>(multiprocessors) * static_cast<unsigned>(blocks);
}

void LoadedKernel::check_arguments(std::span<const Argument> arguments) const {
  bool fits = arguments.size() <= k_max_arguments;
  if (fits && parameters_) {
    fits = std::equal(arguments.begin(), arguments.end(), parameters_->begin(), parameters_->end(),
                      [](const Argument& argument, std::size_t bytes) { return argument.size == bytes; });
  }
  if (!fits) {
    refuse_arguments(arguments);
  }
}

void LoadedKernel::refuse_arguments(std::span<const Argument> arguments) const {
  if (arguments.size() > k_max_arguments) {
    throw Error(ErrorCode::invalid_argument, describe() + " was given " + std::to_string(arguments.size()) +
                                                 " arguments; at most " + std::to_string(k_max_arguments) +
                                                 " can be passed: put them into a struct");
  }
  if (arguments.size() != parameters_->size()) {
    throw Error(ErrorCode::invalid_argument, describe() + " takes " + std::to_string(parameters_->size()) +
                                                 " arguments, but was given " + std::to_string(arguments.size()));
  }
  std::size_t i = 0;
  while (arguments[i].size == (*parameters_)[i]) {
    ++i;
  }
  throw Error(ErrorCode::invalid_argument,
              "argument " + std::to_string(i + 1) + " of " + std::to_string(arguments.size()) + " for " + describe() +
                  " has " + std::to_string(arguments[i].size) + " bytes, but the parameter has " +
                  std::to_string((*parameters_)[i]) + ": pass a value of exactly the parameter's type");
}

std::string LoadedKernel::describe() const {
  return "kernel '" + entry_.expression + "' of template " + artifact().template_name + " for " +
         artifact().target.text();
}

void LoadedKernel::throw_refused(int result, const char* call, const LaunchConfig& config) const {
  throw_driver_error(library_->driver().api(), result, call,
                     describe() + " with " + text(config) + advice(result, config));
}

}  // namespace kiln::jit
