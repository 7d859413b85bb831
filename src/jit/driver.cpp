#include "jit/driver.hpp"

#include <dlfcn.h>

#include <atomic>
#include <mutex>

#include "jit/driver_api.hpp"
#include "jit/process_phase.hpp"
#include "jit/unload_queue.hpp"
#include "kiln/error.hpp"

namespace kiln::jit {

struct Driver::State {
  std::string path;
  int version = 0;
  DriverApi api;
  UnloadQueue unloads{api};
};

namespace {

// The loader's own search first, then places drivers are put that it may not know: WSL, containers, NixOS.
const char* const k_driver_files[] = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1",
                                      "/usr/local/nvidia/lib64/libcuda.so.1", "/run/opengl-driver/lib/libcuda.so.1"};

// The process has one driver. It is never closed, so this pointer is never freed: static destructors may still hold
// kernels.
constinit std::mutex g_mutex;
constinit std::atomic<const std::shared_ptr<const Driver>*> g_driver{nullptr};

struct OpenedFile {
  void* handle;
  std::string path;
};

OpenedFile open_first(const std::vector<std::string>& files) {
  std::string tried;
  for (const std::string& file : files) {
    if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return {handle, file};
    }
    const char* why = dlerror();
    tried += "\n  " + (why != nullptr ? std::string(why) : file);
  }
  throw Error(
      ErrorCode::driver_unavailable,
      "no CUDA driver could be opened: install an NVIDIA driver for CUDA 11.8 or newer, or put the folder of its "
      "libcuda.so.1 on the loader's path; compiling ahead of time needs none. Tried:" +
          tried);
}

void initialize(const DriverApi& api, const std::string& path) {
  CudaResult result = api.init(0);
  if (result == k_cuda_success) {
    return;
  }
  std::string what =
      "cuInit of " + path + " failed: " + name_of_result(api, result) + " (" + std::to_string(result) + "): ";
  switch (result) {
    case k_cuda_no_device:
    case k_cuda_invalid_device:
    case k_cuda_device_unavailable:
      throw Error(ErrorCode::no_device,
                  what + "the driver finds no usable GPU; see nvidia-smi, and whether CUDA_VISIBLE_DEVICES hides it");
    case k_cuda_stub_library:
      throw Error(ErrorCode::driver_unavailable,
                  what + "this is the toolkit's stub to link against; take its folder off the loader's path");
    case k_cuda_system_driver_mismatch:
      throw Error(ErrorCode::driver_unavailable,
                  what + "library and kernel module differ in version; reboot, or reload the nvidia modules");
    case k_cuda_not_initialized:
      throw Error(ErrorCode::driver_unavailable,
                  what + "most likely CUDA was in use when this process was forked; start it with exec instead");
    default:
      throw Error(ErrorCode::driver_unavailable, what + "nvidia-smi or the kernel log may say more");
  }
}

}  // namespace

std::shared_ptr<const Driver> Driver::open_files(const std::vector<std::string>& files) {
  require_usable();
  note_opening();
  try {
    auto [handle, path] = open_first(files);
    auto state = std::make_shared<State>();
    state->path = path;
    state->version = resolve_driver_api(handle, path, state->api);
    initialize(state->api, path);
    note_open();
    return std::shared_ptr<const Driver>(new Driver(std::move(state)));
  } catch (...) {
    // The library stays open: after a failed cuInit it may still have threads and exit handlers of its own.
    note_closed();
    throw;
  }
}

std::shared_ptr<const Driver> Driver::open() {
  require_usable();
  if (const auto* driver = g_driver.load(std::memory_order_acquire)) {
    return *driver;
  }
  std::lock_guard lock(g_mutex);
  if (const auto* driver = g_driver.load(std::memory_order_acquire)) {
    return *driver;
  }
  auto* opened = new std::shared_ptr(open_files({std::begin(k_driver_files), std::end(k_driver_files)}));
  g_driver.store(opened, std::memory_order_release);
  return *opened;
}

bool Driver::opened() noexcept { return g_driver.load(std::memory_order_acquire) != nullptr; }

bool Driver::usable() noexcept {
  Phase phase = process_phase();
  return phase != Phase::forked && phase != Phase::exiting;
}

void Driver::require_usable() {
  switch (process_phase()) {
    case Phase::forked:
      throw Error(
          ErrorCode::driver_unavailable,
          "this process was forked after the CUDA driver was opened, and CUDA does not survive a fork: use Kiln's "
          "kernels in the parent, fork before the first use, or start the child with exec");
    case Phase::exiting:
      throw Error(ErrorCode::driver_unavailable,
                  "the process is exiting and the CUDA driver may be shut down: use kernels before main returns");
    default:
      return;
  }
}

ContextId Driver::current_context() const {
  const DriverApi& api = state_->api;
  CUctx_st* context = nullptr;
  check(api, api.ctx_get_current(&context), "cuCtxGetCurrent", "the calling thread");
  if (context == nullptr) {
    throw Error(
        ErrorCode::no_device,
        "no CUDA context is current in the calling thread: call cudaSetDevice (CUDA 12 and newer), cudaFree(0), or "
        "cuCtxSetCurrent with a retained primary context first");
  }
  unsigned long long id = 0;
  if (api.ctx_get_id != nullptr) {
    check(api, api.ctx_get_id(context, &id), "cuCtxGetId", "the current context");
  }
  return {context, id};
}

Target Driver::current_target() const {
  const DriverApi& api = state_->api;
  CudaDevice device = 0;
  CudaResult result = api.ctx_get_device(&device);
  if (result == k_cuda_invalid_context) {
    current_context();  // says what to do when none is current
  }
  check(api, result, "cuCtxGetDevice", "the current context");
  int major = 0;
  int minor = 0;
  std::string object = "device " + std::to_string(device);
  check(api, api.device_get_attribute(&major, k_device_capability_major, device), "cuDeviceGetAttribute", object);
  check(api, api.device_get_attribute(&minor, k_device_capability_minor, device), "cuDeviceGetAttribute", object);
  return Target::cubin(major * 10 + minor);
}

bool Driver::capture_active() const { return legacy_stream_captured(state_->api); }

int Driver::version() const noexcept { return state_->version; }
const std::string& Driver::path() const noexcept { return state_->path; }
const DriverApi& Driver::api() const noexcept { return state_->api; }
UnloadQueue& Driver::unloads() const noexcept { return state_->unloads; }

}  // namespace kiln::jit
