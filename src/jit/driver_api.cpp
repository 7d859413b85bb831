#include "jit/driver_api.hpp"

#include <dlfcn.h>

#include "kiln/error.hpp"

namespace kiln::jit {

namespace {

/// One row of the table of entry points: the version is that of the binary interface declared in driver_api.hpp, so
/// that the driver hands out exactly that one, however new it is.
struct Symbol {
  const char* name;
  int version;
  bool required;
  void (*assign)(DriverApi&, void*);
};

template <auto Member>
constexpr Symbol symbol(const char* name, int version, bool required) {
  return {name, version, required, [](DriverApi& api, void* address) {
            auto& slot = api.*Member;
            slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(address);
          }};
}

constexpr Symbol k_symbols[] = {
    symbol<&DriverApi::init>("cuInit", 2000, true),
    symbol<&DriverApi::get_error_name>("cuGetErrorName", 6000, true),
    symbol<&DriverApi::ctx_get_current>("cuCtxGetCurrent", 4000, true),
    symbol<&DriverApi::ctx_push_current>("cuCtxPushCurrent", 4000, true),
    symbol<&DriverApi::ctx_pop_current>("cuCtxPopCurrent", 4000, true),
    symbol<&DriverApi::ctx_get_device>("cuCtxGetDevice", 2000, true),
    symbol<&DriverApi::device_get_attribute>("cuDeviceGetAttribute", 2000, true),
    symbol<&DriverApi::device_get_name>("cuDeviceGetName", 2000, true),
    symbol<&DriverApi::module_load_data_ex>("cuModuleLoadDataEx", 2010, true),
    symbol<&DriverApi::module_get_function>("cuModuleGetFunction", 2000, true),
    symbol<&DriverApi::module_get_global>("cuModuleGetGlobal", 3020, true),
    symbol<&DriverApi::module_unload>("cuModuleUnload", 2000, true),
    symbol<&DriverApi::stream_create>("cuStreamCreate", 2000, true),
    symbol<&DriverApi::stream_destroy>("cuStreamDestroy", 4000, true),
    symbol<&DriverApi::stream_synchronize>("cuStreamSynchronize", 2000, true),
    symbol<&DriverApi::stream_is_capturing>("cuStreamIsCapturing", 10000, true),
    symbol<&DriverApi::thread_exchange_stream_capture_mode>("cuThreadExchangeStreamCaptureMode", 10010, true),
    symbol<&DriverApi::memcpy_htod_async>("cuMemcpyHtoDAsync", 3020, true),
    symbol<&DriverApi::memset_d32_async>("cuMemsetD32Async", 3020, true),
    symbol<&DriverApi::mem_alloc_async>("cuMemAllocAsync", 11020, true),
    symbol<&DriverApi::mem_free_async>("cuMemFreeAsync", 11020, true),
    symbol<&DriverApi::func_get_attribute>("cuFuncGetAttribute", 2020, true),
    symbol<&DriverApi::func_set_attribute>("cuFuncSetAttribute", 9000, true),
    symbol<&DriverApi::occupancy>("cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050, true),
    symbol<&DriverApi::launch_kernel>("cuLaunchKernel", 4000, true),
    symbol<&DriverApi::launch_kernel_ex>("cuLaunchKernelEx", 11060, true),
    symbol<&DriverApi::event_create>("cuEventCreate", 2000, false),
    symbol<&DriverApi::event_record>("cuEventRecord", 2000, false),
    symbol<&DriverApi::event_elapsed_time>("cuEventElapsedTime", 2000, false),
    symbol<&DriverApi::event_destroy>("cuEventDestroy", 4000, false),
    symbol<&DriverApi::ctx_get_id>("cuCtxGetId", 12000, false),
    symbol<&DriverApi::library_load_data>("cuLibraryLoadData", 12000, false),
    symbol<&DriverApi::library_get_kernel>("cuLibraryGetKernel", 12000, false),
    symbol<&DriverApi::library_get_global>("cuLibraryGetGlobal", 12000, false),
    symbol<&DriverApi::library_unload>("cuLibraryUnload", 12000, false),
    symbol<&DriverApi::kernel_get_function>("cuKernelGetFunction", 12000, false),
    symbol<&DriverApi::func_get_param_info>("cuFuncGetParamInfo", 12040, false),
    symbol<&DriverApi::func_load>("cuFuncLoad", 12040, false),
};

// Streams given as null mean the legacy default stream, whatever a host application was compiled with.
constexpr std::uint64_t k_legacy_streams = 1;

template <typename Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

/// cuGetProcAddress in either of its two forms: CUDA 12.0 added the last parameter.
class Resolver {
 public:
  explicit Resolver(void* library)
      : newer_(find<Newer>(library, "cuGetProcAddress_v2")), older_(find<Older>(library, "cuGetProcAddress")) {}

  bool available() const noexcept { return newer_ != nullptr || older_ != nullptr; }

  void* operator()(const Symbol& symbol) const {
    void* address = nullptr;
    int status = 0;
    CudaResult result = newer_ != nullptr ? newer_(symbol.name, &address, symbol.version, k_legacy_streams, &status)
                                          : older_(symbol.name, &address, symbol.version, k_legacy_streams);
    return result == k_cuda_success && status == 0 ? address : nullptr;
  }

 private:
  using Newer = CudaResult (*)(const char*, void**, int, std::uint64_t, int*);
  using Older = CudaResult (*)(const char*, void**, int, std::uint64_t);
  Newer newer_;
  Older older_;
};

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::driver_unavailable, path + " " + why + ": install an NVIDIA driver for CUDA " +
                                                 driver_version_text(k_oldest_driver) + " or newer (520 or newer)");
}

}  // namespace

std::string driver_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int resolve_driver_api(void* library, const std::string& path, DriverApi& api) {
  auto get_version = find<CudaResult (*)(int*)>(library, "cuDriverGetVersion");
  int version = 0;
  if (get_version == nullptr || get_version(&version) != k_cuda_success) {
    refuse(path, "does not tell its version, so it is no CUDA driver");
  }
  if (version < k_oldest_driver) {
    refuse(path, "is a driver for CUDA " + driver_version_text(version) + "; Kiln needs " +
                     driver_version_text(k_oldest_driver) + " or newer");
  }
  Resolver resolve(library);
  if (!resolve.available()) {
    refuse(path, "lacks cuGetProcAddress");
  }
  for (const Symbol& symbol : k_symbols) {
    // A CUDA compatibility package can be newer than the kernel driver below it; ask for nothing newer than it claims
    // to be.
    void* address = symbol.version <= version ? resolve(symbol) : nullptr;
    if (address == nullptr && symbol.required) {
      refuse(path, std::string("lacks ") + symbol.name);
    }
    symbol.assign(api, address);
  }
  return version;
}

std::string name_of_result(const DriverApi& api, CudaResult result) {
  const char* name = nullptr;
  if (api.get_error_name(result, &name) != k_cuda_success || name == nullptr) {
    return "unknown CUDA error";
  }
  return name;
}

void throw_driver_error(const DriverApi& api, CudaResult result, const char* call, std::string object) {
  throw DriverError(call, result, name_of_result(api, result), std::move(object));
}

void check(const DriverApi& api, CudaResult result, const char* call, const std::string& object) {
  if (result != k_cuda_success) {
    throw_driver_error(api, result, call, object);
  }
}

}  // namespace kiln::jit
