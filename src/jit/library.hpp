#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "jit/driver.hpp"
#include "kiln/artifact.hpp"

namespace kiln::jit {

class LoadedKernel;  // jit/launch.hpp: one kernel of a library, with its parameter sizes

/// The image the driver was given is unusable (not: the device is lost, or memory is short).
/// Thrown as DriverError; this tells the kinds apart.
bool is_image_error(int cuda_result) noexcept;

/// Loads the artifact's image into the current context and looks up each of its entries, in order. Writes `data` to
/// `symbol` if it is not empty. A cubin is refused before loading when the current device cannot run its target
/// (Error{unsupported_target}): same major and minor not above the device's; `a` and `f` variants by their rules.
/// Every returned kernel keeps the library loaded; it is unloaded with the last of them, never while a stream is being
/// captured, and not at all once the process is exiting. Throws DriverError naming the call and the kernel.
std::vector<std::shared_ptr<const LoadedKernel>> load(const std::shared_ptr<const Driver>& driver,
                                                      std::shared_ptr<const Artifact> artifact,
                                                      std::string_view symbol, std::span<const std::byte> data);

}  // namespace kiln::jit
