#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// The driver's opaque handles, by the tags that cuda.h gives them. Kiln builds without a CUDA toolkit: the few
// declarations it needs of the driver's stable binary interface are below.
struct CUctx_st;
struct CUmod_st;
struct CUlib_st;
struct CUkern_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;

namespace kiln::jit {

using CudaResult = int;
using CudaDevice = int;
using DevicePointer = unsigned long long;

// CUresult values that Kiln acts on.
inline constexpr CudaResult k_cuda_success = 0;
inline constexpr CudaResult k_cuda_invalid_value = 1;
inline constexpr CudaResult k_cuda_out_of_memory = 2;
inline constexpr CudaResult k_cuda_not_initialized = 3;
inline constexpr CudaResult k_cuda_stub_library = 34;
inline constexpr CudaResult k_cuda_device_unavailable = 46;
inline constexpr CudaResult k_cuda_no_device = 100;
inline constexpr CudaResult k_cuda_invalid_device = 101;
inline constexpr CudaResult k_cuda_invalid_image = 200;
inline constexpr CudaResult k_cuda_invalid_context = 201;
inline constexpr CudaResult k_cuda_no_binary_for_gpu = 209;
inline constexpr CudaResult k_cuda_invalid_ptx = 218;
inline constexpr CudaResult k_cuda_unsupported_ptx_version = 222;
inline constexpr CudaResult k_cuda_unsupported_devside_sync = 225;
inline constexpr CudaResult k_cuda_invalid_source = 300;
inline constexpr CudaResult k_cuda_symbol_not_found = 302;
inline constexpr CudaResult k_cuda_object_init_failed = 303;
inline constexpr CudaResult k_cuda_invalid_handle = 400;
inline constexpr CudaResult k_cuda_not_found = 500;
inline constexpr CudaResult k_cuda_context_is_destroyed = 709;
inline constexpr CudaResult k_cuda_cooperative_launch_too_large = 720;
inline constexpr CudaResult k_cuda_not_supported = 801;
inline constexpr CudaResult k_cuda_system_driver_mismatch = 803;
inline constexpr CudaResult k_cuda_capture_implicit = 906;

// Enumerators of CUdevice_attribute, CUfunction_attribute, CUjit_option, CUstreamCaptureMode, CUlaunchAttributeID.
inline constexpr int k_device_multiprocessors = 16;
inline constexpr int k_device_capability_major = 75;
inline constexpr int k_device_capability_minor = 76;
inline constexpr int k_function_registers = 4;
inline constexpr int k_function_max_dynamic_shared_bytes = 8;
inline constexpr int k_jit_error_log_buffer = 5;
inline constexpr int k_jit_error_log_buffer_bytes = 6;
inline constexpr int k_capture_mode_relaxed = 2;
inline constexpr unsigned k_stream_non_blocking = 1;
inline constexpr int k_launch_attribute_cooperative = 2;
inline constexpr int k_launch_attribute_cluster = 4;

/// CUlaunchAttribute: an identifier and a union of 64 bytes, of which Kiln uses two.
struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    int cooperative;
    unsigned cluster[3];
    char bytes[64];
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72 && offsetof(LaunchAttribute, value) == 8);

/// CUlaunchConfig.
struct LaunchDescription {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  CUstream_st* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(LaunchDescription) == 56 && offsetof(LaunchDescription, stream) == 32);

/// The driver's entry points, each named after its function. Those under "newer" are null where the driver lacks them.
struct DriverApi {
  CudaResult (*init)(unsigned flags) = nullptr;
  CudaResult (*get_error_name)(CudaResult, const char**) = nullptr;
  CudaResult (*ctx_get_current)(CUctx_st**) = nullptr;
  CudaResult (*ctx_push_current)(CUctx_st*) = nullptr;
  CudaResult (*ctx_pop_current)(CUctx_st**) = nullptr;
  CudaResult (*ctx_get_device)(CudaDevice*) = nullptr;
  CudaResult (*device_get_attribute)(int*, int attribute, CudaDevice) = nullptr;
  CudaResult (*device_get_name)(char*, int bytes, CudaDevice) = nullptr;

  CudaResult (*module_load_data_ex)(CUmod_st**, const void* image, unsigned options, int*, void**) = nullptr;
  CudaResult (*module_get_function)(CUfunc_st**, CUmod_st*, const char*) = nullptr;
  CudaResult (*module_get_global)(DevicePointer*, std::size_t* bytes, CUmod_st*, const char*) = nullptr;
  CudaResult (*module_unload)(CUmod_st*) = nullptr;

  CudaResult (*stream_create)(CUstream_st**, unsigned flags) = nullptr;
  CudaResult (*stream_destroy)(CUstream_st*) = nullptr;
  CudaResult (*stream_synchronize)(CUstream_st*) = nullptr;
  CudaResult (*stream_is_capturing)(CUstream_st*, int* status) = nullptr;
  CudaResult (*thread_exchange_stream_capture_mode)(int* mode) = nullptr;
  CudaResult (*memcpy_htod_async)(DevicePointer, const void*, std::size_t bytes, CUstream_st*) = nullptr;
  CudaResult (*memset_d32_async)(DevicePointer, unsigned value, std::size_t count, CUstream_st*) = nullptr;
  CudaResult (*mem_alloc_async)(DevicePointer*, std::size_t bytes, CUstream_st*) = nullptr;
  CudaResult (*mem_free_async)(DevicePointer, CUstream_st*) = nullptr;

  CudaResult (*func_get_attribute)(int*, int attribute, CUfunc_st*) = nullptr;
  CudaResult (*func_set_attribute)(CUfunc_st*, int attribute, int value) = nullptr;
  CudaResult (*occupancy)(int* blocks, CUfunc_st*, int threads, std::size_t shared_bytes) = nullptr;
  CudaResult (*launch_kernel)(CUfunc_st*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned shared_bytes, CUstream_st*, void** arguments, void** extra) = nullptr;
  CudaResult (*launch_kernel_ex)(const LaunchDescription*, CUfunc_st*, void** arguments, void** extra) = nullptr;

  // To measure with, which a driver can do without: all or none.
  CudaResult (*event_create)(CUevent_st**, unsigned flags) = nullptr;
  CudaResult (*event_record)(CUevent_st*, CUstream_st*) = nullptr;
  CudaResult (*event_elapsed_time)(float* milliseconds, CUevent_st* begin, CUevent_st* end) = nullptr;
  CudaResult (*event_destroy)(CUevent_st*) = nullptr;

  // Newer: CUDA 12.0, all or none of the libraries' five.
  CudaResult (*ctx_get_id)(CUctx_st*, unsigned long long*) = nullptr;
  CudaResult (*library_load_data)(CUlib_st**, const void* image, int*, void**, unsigned options, int*, void**,
                                  unsigned library_options) = nullptr;
  CudaResult (*library_get_kernel)(CUkern_st**, CUlib_st*, const char*) = nullptr;
  CudaResult (*library_get_global)(DevicePointer*, std::size_t* bytes, CUlib_st*, const char*) = nullptr;
  CudaResult (*library_unload)(CUlib_st*) = nullptr;
  CudaResult (*kernel_get_function)(CUfunc_st**, CUkern_st*) = nullptr;
  // Newer: CUDA 12.4.
  CudaResult (*func_get_param_info)(CUfunc_st*, std::size_t index, std::size_t* offset, std::size_t* bytes) = nullptr;
  CudaResult (*func_load)(CUfunc_st*) = nullptr;

  bool has_events() const noexcept {
    return event_create != nullptr && event_record != nullptr && event_elapsed_time != nullptr &&
           event_destroy != nullptr;
  }
  bool has_libraries() const noexcept {
    return library_load_data != nullptr && library_get_kernel != nullptr && library_get_global != nullptr &&
           library_unload != nullptr && kernel_get_function != nullptr;
  }
};

/// The oldest driver Kiln works with, as cuDriverGetVersion tells it: CUDA 11.8.
inline constexpr int k_oldest_driver = 11080;

/// "11.8" for 11080.
std::string driver_version_text(int version);

/// Resolves every entry point of `library`, a handle of dlopen. `path` is for messages. Calls nothing but
/// cuDriverGetVersion and cuGetProcAddress. Gives the driver's version. Throws Error{driver_unavailable} when it is
/// older than 11.8, naming both versions, or when it lacks an entry point, naming that.
int resolve_driver_api(void* library, const std::string& path, DriverApi& api);

/// The result's name, e.g. "CUDA_ERROR_INVALID_IMAGE".
std::string name_of_result(const DriverApi& api, CudaResult result);
/// Throws DriverError unless `result` is success. `object` says what the call was made on.
void check(const DriverApi& api, CudaResult result, const char* call, const std::string& object);
[[noreturn]] void throw_driver_error(const DriverApi& api, CudaResult result, const char* call, std::string object);

}  // namespace kiln::jit
