#include "support/gpu.hpp"

#include <dlfcn.h>

#include <array>

namespace kiln::test {

namespace {

template <typename Function>
void load(void* library, const char* name, Function& slot) {
  slot = reinterpret_cast<Function>(dlsym(library, name));
  if (slot == nullptr) {
    throw std::runtime_error(std::string("libcuda.so.1 lacks ") + name);
  }
}

Cuda open_cuda() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw std::runtime_error(std::string("no CUDA driver: ") + dlerror());
  }
  Cuda cuda{};
  load(library, "cuInit", cuda.init);
  load(library, "cuDriverGetVersion", cuda.driver_version);
  load(library, "cuDeviceGetCount", cuda.device_count);
  load(library, "cuDeviceGetName", cuda.device_name);
  load(library, "cuDeviceGetAttribute", cuda.device_attribute);
  load(library, "cuDevicePrimaryCtxRetain", cuda.primary_retain);
  load(library, "cuDevicePrimaryCtxRelease_v2", cuda.primary_release);
  load(library, "cuDevicePrimaryCtxReset_v2", cuda.primary_reset);
  load(library, "cuCtxCreate_v2", cuda.context_create);
  load(library, "cuCtxDestroy_v2", cuda.context_destroy);
  load(library, "cuCtxSetCurrent", cuda.set_current);
  load(library, "cuCtxGetCurrent", cuda.get_current);
  load(library, "cuCtxSynchronize", cuda.synchronize);
  load(library, "cuMemAlloc_v2", cuda.allocate);
  load(library, "cuMemFree_v2", cuda.free);
  load(library, "cuMemcpyHtoD_v2", cuda.to_device);
  load(library, "cuMemcpyDtoH_v2", cuda.to_host);
  load(library, "cuMemcpyDtoDAsync_v2", cuda.copy_async);
  load(library, "cuMemcpy2DAsync_v2", cuda.copy_2d_async);
  load(library, "cuStreamCreate", cuda.stream_create);
  load(library, "cuStreamDestroy_v2", cuda.stream_destroy);
  load(library, "cuStreamSynchronize", cuda.stream_synchronize);
  load(library, "cuStreamBeginCapture_v2", cuda.begin_capture);
  load(library, "cuStreamEndCapture", cuda.end_capture);
  load(library, "cuGraphInstantiateWithFlags", cuda.graph_instantiate);
  load(library, "cuGraphLaunch", cuda.graph_launch);
  load(library, "cuGraphExecDestroy", cuda.graph_exec_destroy);
  load(library, "cuGraphDestroy", cuda.graph_destroy);
  load(library, "cuEventCreate", cuda.event_create);
  load(library, "cuEventDestroy_v2", cuda.event_destroy);
  load(library, "cuEventRecord", cuda.event_record);
  load(library, "cuEventSynchronize", cuda.event_synchronize);
  load(library, "cuEventElapsedTime", cuda.event_elapsed_ms);
  load(library, "cuLaunchKernel", cuda.launch);
  return cuda;
}

constexpr int k_capability_major = 75;
constexpr int k_capability_minor = 76;

}  // namespace

void require(Cuda::Result result, const char* what) {
  if (result != 0) {
    throw std::runtime_error(std::string(what) + " failed with CUresult " + std::to_string(result));
  }
}

Gpu::Gpu() : cuda_(open_cuda()) {
  require(cuda_.init(0), "cuInit");
  require(cuda_.driver_version(&driver_version_), "cuDriverGetVersion");
  require(cuda_.device_count(&device_count_), "cuDeviceGetCount");
  if (device_count_ == 0) {
    throw std::runtime_error("no GPU");
  }
  std::array<char, 256> name{};
  require(cuda_.device_name(name.data(), static_cast<int>(name.size()), 0), "cuDeviceGetName");
  name_ = name.data();
  int major = 0;
  int minor = 0;
  require(cuda_.device_attribute(&major, k_capability_major, 0), "cuDeviceGetAttribute");
  require(cuda_.device_attribute(&minor, k_capability_minor, 0), "cuDeviceGetAttribute");
  capability_ = major * 10 + minor;
  require(cuda_.primary_retain(&context_, 0), "cuDevicePrimaryCtxRetain");
}

const Gpu* Gpu::get(std::string& why_not) {
  struct Attempt {
    const Gpu* gpu = nullptr;
    std::string why_not;
  };
  static const Attempt attempt = [] {
    try {
      return Attempt{new Gpu, ""};
    } catch (const std::exception& error) {
      return Attempt{nullptr, error.what()};
    }
  }();
  why_not = attempt.why_not;
  if (attempt.gpu != nullptr) {
    CUctx_st* current = nullptr;
    require(attempt.gpu->cuda_.get_current(&current), "cuCtxGetCurrent");
    if (current == nullptr) {
      attempt.gpu->make_current();
    }
  }
  return attempt.gpu;
}

const Gpu& Gpu::get() {
  std::string why_not;
  const Gpu* gpu = get(why_not);
  if (gpu == nullptr) {
    throw std::runtime_error(why_not);
  }
  return *gpu;
}

void Gpu::reset_primary_context() const {
  require(cuda_.primary_reset(0), "cuDevicePrimaryCtxReset");
  require(cuda_.primary_release(0), "cuDevicePrimaryCtxRelease");
  require(cuda_.primary_retain(&context_, 0), "cuDevicePrimaryCtxRetain");
  make_current();
}

}  // namespace kiln::test
