#include "jit/devices.hpp"

#include <dlfcn.h>

#include "jit/driver_api.hpp"
#include "kiln/error.hpp"

namespace kiln::jit {

namespace {

template <typename Function>
Function find(void* library, const std::string& path, const char* name) {
  auto function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    throw Error(ErrorCode::driver_unavailable, "the CUDA driver " + path + " lacks " + name + ": install a newer one");
  }
  return function;
}

int attribute_of(const Driver& driver, CudaDevice device, int attribute) {
  int value = 0;
  check(driver.api(), driver.api().device_get_attribute(&value, attribute, device), "cuDeviceGetAttribute",
        "device " + std::to_string(device));
  return value;
}

std::string name_of(const Driver& driver, CudaDevice device) {
  char name[256] = {};
  check(driver.api(), driver.api().device_get_name(name, sizeof(name), device), "cuDeviceGetName",
        "device " + std::to_string(device));
  return name;
}

}  // namespace

std::vector<DeviceInfo> list_devices(const Driver& driver) {
  // Open already, and never closed: this adds a reference to what is there.
  void* library = dlopen(driver.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  auto device_count = find<CudaResult (*)(int*)>(library, driver.path(), "cuDeviceGetCount");
  auto device_get = find<CudaResult (*)(CudaDevice*, int)>(library, driver.path(), "cuDeviceGet");
  int count = 0;
  check(driver.api(), device_count(&count), "cuDeviceGetCount", "the driver");
  std::vector<DeviceInfo> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    std::string object = "device " + std::to_string(ordinal);
    CudaDevice device = 0;
    check(driver.api(), device_get(&device, ordinal), "cuDeviceGet", object);
    int major = attribute_of(driver, device, k_device_capability_major);
    int minor = attribute_of(driver, device, k_device_capability_minor);
    devices.push_back({name_of(driver, device), Target::cubin(10 * major + minor)});
  }
  return devices;
}

std::string current_device_text(const Driver& driver) {
  const Target target = driver.current_target();
  CudaDevice device = 0;
  check(driver.api(), driver.api().ctx_get_device(&device), "cuCtxGetDevice", "the current context");
  return name_of(driver, device) + ", " + target.text() + ", " +
         std::to_string(attribute_of(driver, device, k_device_multiprocessors)) + " multiprocessors, driver " +
         std::to_string(driver.version() / 1000);
}

}  // namespace kiln::jit
