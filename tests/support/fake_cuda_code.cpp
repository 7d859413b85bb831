// Contexts, code and its launches of the fake libcuda.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "support/fake_cuda_entry.hpp"

using namespace kiln::jit;
using namespace kiln::test;

namespace {

void record_image(const void* image) {
  bool is_elf = std::memcmp(image, "\177ELF", 4) == 0;
  g_driver.fake.loaded.emplace_back(is_elf ? "" : static_cast<const char*>(image));
}

void write_log(unsigned count, const int* options, void** values) {
  char* buffer = nullptr;
  std::size_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == k_jit_error_log_buffer) {
      buffer = static_cast<char*>(values[i]);
    } else if (options[i] == k_jit_error_log_buffer_bytes) {
      bytes = reinterpret_cast<std::uintptr_t>(values[i]);
    }
  }
  if (buffer != nullptr && bytes != 0) {
    std::snprintf(buffer, bytes, "%s", g_driver.fake.jit_log.c_str());
  }
}

CUfunc_st* make_function(const std::string& name, CUctx_st* context) {
  g_driver.functions.push_back(std::make_unique<CUfunc_st>(CUfunc_st{name, context}));
  return g_driver.functions.back().get();
}

int give_variable(const char* name, DevicePointer* address, std::size_t* bytes) {
  auto found = g_driver.fake.variables.find(name);
  if (found == g_driver.fake.variables.end()) {
    return k_cuda_not_found;
  }
  *address = reinterpret_cast<DevicePointer>(found->second.data());
  *bytes = found->second.size();
  return k_cuda_success;
}

int launch(FakeCuda::Launch launch, const CUfunc_st* function, void** arguments) {
  if (function->context != t_thread.current() || !function->context->alive) {
    return k_cuda_invalid_handle;
  }
  auto threads = static_cast<unsigned long long>(launch.block.x) * launch.block.y * launch.block.z;
  if (launch.grid.x * launch.grid.y * launch.grid.z == 0 || threads == 0 || threads > 1024 ||
      launch.shared_bytes > static_cast<unsigned>(function->shared_limit)) {
    return k_cuda_invalid_value;
  }
  launch.kernel = function->name;
  const std::vector<std::size_t>& sizes = g_driver.fake.kernels[function->name];
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto* bytes = static_cast<const std::byte*>(arguments[i]);
    launch.arguments.emplace_back(bytes, bytes + sizes[i]);
  }
  g_driver.clock_us += g_driver.fake.launch_us ? g_driver.fake.launch_us(launch) : 1;
  g_driver.fake.launches.push_back(std::move(launch));
  return k_cuda_success;
}

int init(unsigned) {
  ENTER("cuInit");
  if (g_driver.initialized_by == 0) {
    std::atexit([] { g_driver.shut_down = true; });
    g_driver.initialized_by = getpid();
  }
  return k_cuda_success;
}

int get_error_name(int result, const char** name) {
  static const std::map<int, const char*> names{
      {1, "CUDA_ERROR_INVALID_VALUE"},       {2, "CUDA_ERROR_OUT_OF_MEMORY"},
      {3, "CUDA_ERROR_NOT_INITIALIZED"},     {34, "CUDA_ERROR_STUB_LIBRARY"},
      {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"}, {100, "CUDA_ERROR_NO_DEVICE"},
      {200, "CUDA_ERROR_INVALID_IMAGE"},     {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {218, "CUDA_ERROR_INVALID_PTX"},       {400, "CUDA_ERROR_INVALID_HANDLE"},
      {500, "CUDA_ERROR_NOT_FOUND"},         {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"}};
  auto found = names.find(result);
  if (found == names.end()) {
    return k_cuda_invalid_value;
  }
  *name = found->second;
  return k_cuda_success;
}

int ctx_get_current(CUctx_st** context) {
  ENTER("cuCtxGetCurrent");
  *context = t_thread.current();
  return k_cuda_success;
}

int ctx_push_current(CUctx_st* context) {
  ENTER("cuCtxPushCurrent");
  if (!context->alive) {
    return k_cuda_context_is_destroyed;
  }
  t_thread.push(context);
  return k_cuda_success;
}

int ctx_pop_current(CUctx_st** context) {
  ENTER("cuCtxPopCurrent");
  if (t_thread.depth == 0) {
    return k_cuda_invalid_context;
  }
  *context = t_thread.current();
  --t_thread.depth;
  return k_cuda_success;
}

int ctx_get_device(int* device) {
  ENTER("cuCtxGetDevice");
  if (t_thread.current() == nullptr) {
    return k_cuda_invalid_context;
  }
  *device = t_thread.current()->device;
  return k_cuda_success;
}

int ctx_get_id(CUctx_st* context, unsigned long long* id) {
  ENTER("cuCtxGetId");
  if (!context->alive) {
    return k_cuda_context_is_destroyed;
  }
  *id = context->id;
  return k_cuda_success;
}

int device_get_attribute(int* value, int attribute, int device) {
  ENTER("cuDeviceGetAttribute");
  const FakeCuda::Device& found = g_driver.fake.devices.at(static_cast<std::size_t>(device));
  *value = attribute == k_device_multiprocessors    ? static_cast<int>(g_driver.fake.multiprocessors)
           : attribute == k_device_capability_major ? found.major
                                                    : found.minor;
  return k_cuda_success;
}

int device_get_name(char* name, int bytes, int device) {
  ENTER("cuDeviceGetName");
  std::snprintf(name, static_cast<std::size_t>(bytes), "%s",
                g_driver.fake.devices.at(static_cast<std::size_t>(device)).name.c_str());
  return k_cuda_success;
}

int module_load_data_ex(CUmod_st** module, const void* image, unsigned count, int* options, void** values) {
  int result = enter_unsafe("cuModuleLoadDataEx");
  record_image(image);
  if (result != k_cuda_success) {
    write_log(count, options, values);
    return result;
  }
  g_driver.modules.push_back(std::make_unique<CUmod_st>(CUmod_st{t_thread.current()}));
  *module = g_driver.modules.back().get();
  ++g_driver.fake.images;
  return k_cuda_success;
}

int module_get_function(CUfunc_st** function, CUmod_st* module, const char* name) {
  ENTER("cuModuleGetFunction");
  if (!g_driver.fake.kernels.contains(name)) {
    return k_cuda_not_found;
  }
  *function = make_function(name, module->context);
  return k_cuda_success;
}

int module_get_global(DevicePointer* address, std::size_t* bytes, CUmod_st*, const char* name) {
  ENTER("cuModuleGetGlobal");
  return give_variable(name, address, bytes);
}

int module_unload(CUmod_st* module) {
  ENTER_UNSAFE("cuModuleUnload");
  if (!module->live || module->context != t_thread.current()) {
    std::fprintf(stderr, "fake libcuda: module unloaded twice or in another context\n");
    std::abort();
  }
  module->live = false;
  --g_driver.fake.images;
  return k_cuda_success;
}

int occupancy(int* blocks, CUfunc_st* function, int threads, std::size_t shared_bytes) {
  ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  const bool fits = shared_bytes <= static_cast<std::size_t>(std::max(function->shared_limit, 48 * 1024));
  *blocks = fits ? 2048 / threads : 0;
  return k_cuda_success;
}

int func_get_attribute(int* value, int, CUfunc_st*) {
  ENTER("cuFuncGetAttribute");
  *value = 8;
  return k_cuda_success;
}

int func_set_attribute(CUfunc_st* function, int attribute, int value) {
  ENTER("cuFuncSetAttribute");
  if (attribute != k_function_max_dynamic_shared_bytes || value > 227 * 1024) {
    return k_cuda_invalid_value;
  }
  function->shared_limit = value;
  return k_cuda_success;
}

int func_get_param_info(CUfunc_st* function, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  ENTER("cuFuncGetParamInfo");
  const std::vector<std::size_t>& sizes = g_driver.fake.kernels[function->name];
  if (index >= sizes.size()) {
    return k_cuda_invalid_value;
  }
  *offset = 0;
  *bytes = sizes[index];
  return k_cuda_success;
}

int func_load(CUfunc_st*) {
  ENTER_UNSAFE("cuFuncLoad");
  return k_cuda_success;
}

int launch_kernel(CUfunc_st* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                  unsigned shared, CUstream_st* stream, void** arguments, void**) {
  ENTER("cuLaunchKernel");
  return launch({"", {gx, gy, gz}, {bx, by, bz}, {}, shared, stream, {}}, function, arguments);
}

int launch_kernel_ex(const LaunchDescription* description, CUfunc_st* function, void** arguments, void**) {
  ENTER("cuLaunchKernelEx");
  kiln::Dim3 cluster;
  bool cooperative = false;
  for (unsigned i = 0; i < description->attribute_count; ++i) {
    const LaunchAttribute& attribute = description->attributes[i];
    if (attribute.id == k_launch_attribute_cluster) {
      cluster = {attribute.value.cluster[0], attribute.value.cluster[1], attribute.value.cluster[2]};
    } else if (attribute.id == k_launch_attribute_cooperative) {
      cooperative = attribute.value.cooperative != 0;
    }
  }
  const unsigned* grid = description->grid;
  const unsigned* block = description->block;
  return launch({"",
                 {grid[0], grid[1], grid[2]},
                 {block[0], block[1], block[2]},
                 cluster,
                 description->shared_bytes,
                 description->stream,
                 {},
                 cooperative},
                function, arguments);
}

int library_load_data(CUlib_st** library, const void* image, int* options, void** values, unsigned count, int*, void**,
                      unsigned) {
  int result = enter_unsafe("cuLibraryLoadData");
  record_image(image);
  if (result != k_cuda_success) {
    write_log(count, options, values);
    return result;
  }
  g_driver.libraries.push_back(std::make_unique<CUlib_st>());
  *library = g_driver.libraries.back().get();
  ++g_driver.fake.images;
  return k_cuda_success;
}

int library_get_kernel(CUkern_st** kernel, CUlib_st*, const char* name) {
  ENTER("cuLibraryGetKernel");
  if (!g_driver.fake.kernels.contains(name)) {
    return k_cuda_not_found;
  }
  g_driver.kernels.push_back(std::make_unique<CUkern_st>(CUkern_st{name}));
  *kernel = g_driver.kernels.back().get();
  return k_cuda_success;
}

int library_get_global(DevicePointer* address, std::size_t* bytes, CUlib_st*, const char* name) {
  ENTER("cuLibraryGetGlobal");
  return give_variable(name, address, bytes);
}

int library_unload(CUlib_st* library) {
  ENTER_UNSAFE("cuLibraryUnload");
  if (!library->live) {
    std::fprintf(stderr, "fake libcuda: library unloaded twice\n");
    std::abort();
  }
  library->live = false;
  --g_driver.fake.images;
  return k_cuda_success;
}

int kernel_get_function(CUfunc_st** function, CUkern_st* kernel) {
  ENTER_UNSAFE("cuKernelGetFunction");
  *function = make_function(kernel->name, t_thread.current());
  return k_cuda_success;
}

}  // namespace

namespace kiln::test {

std::span<const Export> code_exports() {
  static const Export exports[] = {
      row("cuInit", 2000, init),
      row("cuGetErrorName", 6000, get_error_name),
      row("cuCtxGetCurrent", 4000, ctx_get_current),
      row("cuCtxPushCurrent", 4000, ctx_push_current),
      row("cuCtxPopCurrent", 4000, ctx_pop_current),
      row("cuCtxGetDevice", 2000, ctx_get_device),
      row("cuDeviceGetAttribute", 2000, device_get_attribute),
      row("cuDeviceGetName", 2000, device_get_name),
      row("cuModuleLoadDataEx", 2010, module_load_data_ex),
      row("cuModuleGetFunction", 2000, module_get_function),
      row("cuModuleGetGlobal", 3020, module_get_global),
      row("cuModuleUnload", 2000, module_unload),
      row("cuFuncGetAttribute", 2020, func_get_attribute),
      row("cuFuncSetAttribute", 9000, func_set_attribute),
      row("cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050, occupancy),
      row("cuLaunchKernel", 4000, launch_kernel),
      row("cuLaunchKernelEx", 11060, launch_kernel_ex),
      row("cuCtxGetId", 12000, ctx_get_id),
      row("cuLibraryLoadData", 12000, library_load_data),
      row("cuLibraryGetKernel", 12000, library_get_kernel),
      row("cuLibraryGetGlobal", 12000, library_get_global),
      row("cuLibraryUnload", 12000, library_unload),
      row("cuKernelGetFunction", 12000, kernel_get_function),
      row("cuFuncGetParamInfo", 12040, func_get_param_info),
      row("cuFuncLoad", 12040, func_load),
  };
  return exports;
}

}  // namespace kiln::test
