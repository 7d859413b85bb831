#pragma once

#include <functional>
#include <memory>

#include "jit/driver.hpp"
#include "kiln/kernel.hpp"

struct CUevent_st;

namespace kiln::jit {

/// Times work on the device, in a stream of its own that waits for none of the application's. Of the context that is
/// current when it is made. Not thread-safe.
class DeviceStopwatch {
 public:
  /// Throws DriverError; Error{driver_unavailable} when the driver has no events.
  explicit DeviceStopwatch(std::shared_ptr<const Driver> driver);
  /// Waits for what the stream was given.
  ~DeviceStopwatch();
  DeviceStopwatch(const DeviceStopwatch&) = delete;
  DeviceStopwatch& operator=(const DeviceStopwatch&) = delete;

  Stream stream() const noexcept { return stream_; }
  /// Milliseconds that the device takes for what `work` gives the stream. Waits for it. Throws DriverError.
  double milliseconds(const std::function<void()>& work) const;

 private:
  void end() noexcept;

  std::shared_ptr<const Driver> driver_;
  Stream stream_ = nullptr;
  CUevent_st* begin_ = nullptr;
  CUevent_st* end_ = nullptr;
};

}  // namespace kiln::jit
