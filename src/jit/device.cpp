#include "kiln/device.hpp"

#include <dlfcn.h>

#include <string>
#include <utility>

#include "jit/driver.hpp"
#include "jit/driver_api.hpp"
#include "jit/image.hpp"
#include "kiln/error.hpp"

namespace kiln {

namespace {

using jit::CudaDevice;
using jit::CudaResult;
using jit::DevicePointer;

/// The entry points that only programs without CUDA code of their own need.
struct MemoryApi {
  CudaResult (*device_get)(CudaDevice*, int ordinal);
  CudaResult (*primary_retain)(CUctx_st**, CudaDevice);
  CudaResult (*primary_release)(CudaDevice);
  CudaResult (*synchronize)();
  CudaResult (*allocate)(DevicePointer*, std::size_t bytes);
  CudaResult (*free)(DevicePointer);
  CudaResult (*to_device)(DevicePointer, const void*, std::size_t bytes);
  CudaResult (*to_host)(void*, DevicePointer, std::size_t bytes);
};

template <typename Function>
void find(void* library, const std::string& path, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    throw Error(ErrorCode::driver_unavailable, "the CUDA driver " + path + " lacks " + name + ": install a newer one");
  }
}

MemoryApi find_memory_api(const jit::Driver& driver) {
  // Open already, and never closed: this adds a reference to what is there.
  void* library = dlopen(driver.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  MemoryApi api{};
  find(library, driver.path(), "cuDeviceGet", api.device_get);
  find(library, driver.path(), "cuDevicePrimaryCtxRetain", api.primary_retain);
  find(library, driver.path(), "cuDevicePrimaryCtxRelease_v2", api.primary_release);
  find(library, driver.path(), "cuCtxSynchronize", api.synchronize);
  find(library, driver.path(), "cuMemAlloc_v2", api.allocate);
  find(library, driver.path(), "cuMemFree_v2", api.free);
  find(library, driver.path(), "cuMemcpyHtoD_v2", api.to_device);
  find(library, driver.path(), "cuMemcpyDtoH_v2", api.to_host);
  return api;
}

void require_room(std::size_t wanted, std::size_t size) {
  if (wanted > size) {
    throw Error(ErrorCode::invalid_argument,
                std::to_string(wanted) + " bytes do not fit a device buffer of " + std::to_string(size));
  }
}

std::string object_of(std::size_t bytes) { return "a device buffer of " + std::to_string(bytes) + " bytes"; }

}  // namespace

struct Device::State {
  explicit State(int ordinal) : driver(jit::Driver::open()), api(find_memory_api(*driver)) {
    std::string object = "device " + std::to_string(ordinal);
    CudaResult found = api.device_get(&device, ordinal);
    if (found == jit::k_cuda_invalid_device) {
      throw Error(ErrorCode::no_device, "there is no CUDA " + object + "; nvidia-smi lists those there are");
    }
    jit::check(driver->api(), found, "cuDeviceGet", object);
    CUctx_st* context = nullptr;
    jit::check(driver->api(), api.primary_retain(&context, device), "cuDevicePrimaryCtxRetain", object);
    CudaResult pushed = driver->api().ctx_push_current(context);
    if (pushed != jit::k_cuda_success) {
      api.primary_release(device);
      jit::check(driver->api(), pushed, "cuCtxPushCurrent", object);
    }
  }
  ~State() {
    if (jit::Driver::usable()) {
      CUctx_st* popped = nullptr;
      driver->api().ctx_pop_current(&popped);
      api.primary_release(device);
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::shared_ptr<const jit::Driver> driver;
  MemoryApi api;
  CudaDevice device = 0;
};

Device::Device(int ordinal) : state_(std::make_shared<State>(ordinal)) {}

Target Device::target() const { return state_->driver->current_target(); }

bool Device::runs(const Target& target) const { return jit::runs_on(target, this->target().capability()); }

void Device::synchronize() const {
  jit::check(state_->driver->api(), state_->api.synchronize(), "cuCtxSynchronize", "the device's context");
}

struct DeviceBuffer::State {
  std::shared_ptr<const jit::Driver> driver;
  MemoryApi api;
  DevicePointer address = 0;
  std::size_t bytes = 0;
};

DeviceBuffer::DeviceBuffer(std::size_t bytes)
    : state_(nullptr, [](State* state) noexcept {
        if (state->address != 0 && jit::Driver::usable()) {
          state->api.free(state->address);
        }
        delete state;
      }) {
  std::shared_ptr<const jit::Driver> driver = jit::Driver::open();
  driver->current_context();
  MemoryApi api = find_memory_api(*driver);
  state_.reset(new State{std::move(driver), api, 0, bytes});
  if (bytes > 0) {
    jit::check(state_->driver->api(), state_->api.allocate(&state_->address, bytes), "cuMemAlloc", object_of(bytes));
  }
}

void* DeviceBuffer::data() const noexcept { return reinterpret_cast<void*>(state_->address); }

std::size_t DeviceBuffer::size() const noexcept { return state_->bytes; }

void DeviceBuffer::upload(std::span<const std::byte> bytes) const {
  require_room(bytes.size(), size());
  if (!bytes.empty()) {
    jit::check(state_->driver->api(), state_->api.to_device(state_->address, bytes.data(), bytes.size()),
               "cuMemcpyHtoD", object_of(size()));
  }
}

void DeviceBuffer::download(std::span<std::byte> bytes) const {
  require_room(bytes.size(), size());
  if (!bytes.empty()) {
    jit::check(state_->driver->api(), state_->api.to_host(bytes.data(), state_->address, bytes.size()), "cuMemcpyDtoH",
               object_of(size()));
  }
}

}  // namespace kiln
