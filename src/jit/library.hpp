#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "jit/driver.hpp"
#include "jit/unload_queue.hpp"
#include "kiln/artifact.hpp"

namespace kiln::jit {

class LoadedKernel;  // jit/launch.hpp: one kernel of a library, with its parameter sizes

/// The image the driver was given is unusable (not: the device is lost, or memory is short).
/// Thrown as DriverError; this tells the kinds apart.
bool is_image_error(int cuda_result) noexcept;

/// An artifact loaded into a context. Unloaded when the last holder lets go, as UnloadQueue allows. Immutable.
class Library {
 public:
  Library(std::shared_ptr<const Driver> driver, std::shared_ptr<const Artifact> artifact,
          const LoadedImage& image) noexcept
      : driver_(std::move(driver)), artifact_(std::move(artifact)), image_(image) {}
  ~Library() { driver_->unloads().retire(image_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const Driver& driver() const noexcept { return *driver_; }
  const Artifact& artifact() const noexcept { return *artifact_; }
  const LoadedImage& image() const noexcept { return image_; }

 private:
  std::shared_ptr<const Driver> driver_;
  std::shared_ptr<const Artifact> artifact_;
  LoadedImage image_;
};

/// Loads the artifact's image into the current context and looks up each of its entries, in order. Writes `data` to
/// `symbol` if it is not empty; when this returns the bytes are on the device. A cubin that the current device cannot
/// run is never given to the driver (rules: `runs_on`); the PTX beside it is loaded instead if there is one and its
/// target has no suffix, else it is Error{unsupported_target}. Error{capture_active} while a capture that a load would
/// break is known to be active; a capture that the driver does not tell of is left intact too. Every returned kernel
/// keeps the library loaded; it is unloaded with the last of them, never while a stream is known to be captured, and
/// not at all once the process is exiting. Throws DriverError naming the call and the kernel, with the driver's log for
/// PTX; Error{no_device} when no context is current; Error{invalid_argument} when `symbol` is smaller than `data`.
std::vector<std::shared_ptr<const LoadedKernel>> load(const std::shared_ptr<const Driver>& driver,
                                                      std::shared_ptr<const Artifact> artifact, std::string_view symbol,
                                                      std::span<const std::byte> data);

}  // namespace kiln::jit
