#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "c_api/handles.hpp"

using kiln::c_api::guarded;
using kiln::c_api::required;

namespace {

/// As many arguments are passed on without an allocation.
constexpr std::size_t k_few_arguments = 32;

kiln::Dim3 dim3_of(const uint32_t (&size)[3]) {
  return {std::max(size[0], 1U), std::max(size[1], 1U), std::max(size[2], 1U)};
}

kiln::LaunchConfig config_of(const kiln_launch& launch) {
  kiln::LaunchConfig config;
  config.grid = dim3_of(launch.grid);
  config.block = dim3_of(launch.block);
  config.cluster = dim3_of(launch.cluster);
  config.shared_bytes = launch.shared_bytes;
  config.stream = static_cast<kiln::Stream>(launch.stream);
  config.cooperative = launch.cooperative != 0;
  return config;
}

}  // namespace

kiln_status kiln_kernel_launch(const kiln_kernel* kernel, const kiln_launch* launch, const kiln_argument* arguments,
                               size_t count, kiln_error** error) {
  return guarded(error, [&] {
    const kiln::Kernel& callee = required(kernel, "kernel").value;
    const kiln::LaunchConfig config = config_of(kiln::c_api::read_struct(launch, "launch"));
    kiln::c_api::check_count(count, sizeof(kiln_argument));
    if (count > 0) {
      required(arguments, "arguments");
    }
    std::array<kiln::Argument, k_few_arguments> few{};
    std::vector<kiln::Argument> many;
    std::span<kiln::Argument> list(few.data(), std::min(count, few.size()));
    if (count > few.size()) {
      many.resize(count);
      list = many;
    }
    for (std::size_t i = 0; i < count; ++i) {
      list[i] = {arguments[i].address, arguments[i].size};
    }
    callee.launch_arguments(config, list);
  });
}

kiln_status kiln_kernel_allow_shared_bytes(const kiln_kernel* kernel, uint32_t bytes, kiln_error** error) {
  return guarded(error, [&] { required(kernel, "kernel").value.allow_shared_bytes(bytes); });
}

void* kiln_kernel_function(const kiln_kernel* kernel) { return kernel == nullptr ? nullptr : kernel->value.function(); }

void kiln_kernel_free(kiln_kernel* kernel) { delete kernel; }
