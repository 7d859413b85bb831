#pragma once

#include <string>
#include <vector>

#include "jit/driver.hpp"
#include "kiln/target.hpp"

namespace kiln::jit {

/// A GPU as the driver tells of it without a context.
struct DeviceInfo {
  std::string name;  ///< "NVIDIA H200"
  Target target;     ///< its architecture, as a plain cubin target
};

/// Every GPU the process may use, by ordinal. Makes no context. Throws DriverError.
std::vector<DeviceInfo> list_devices(const Driver& driver);

/// The current context's device and its driver, as far as they decide which kernel is fastest: "NVIDIA H200, sm_90, 132
/// multiprocessors, driver 13". Throws Error{no_device} when no context is current; DriverError.
std::string current_device_text(const Driver& driver);

}  // namespace kiln::jit
