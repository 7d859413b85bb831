#include "jit/stopwatch.hpp"

#include <utility>

#include "jit/driver_api.hpp"
#include "kiln/error.hpp"

namespace kiln::jit {

namespace {

constexpr const char* k_object = "the stream that kernels are timed in";

}  // namespace

DeviceStopwatch::DeviceStopwatch(std::shared_ptr<const Driver> driver) : driver_(std::move(driver)) {
  Driver::require_usable();
  const DriverApi& api = driver_->api();
  if (!api.has_events()) {
    throw Error(ErrorCode::driver_unavailable,
                driver_->path() +
                    " lacks cuEventElapsedTime or its kin, by which kernels are timed: choose without "
                    "measuring, or install a newer driver");
  }
  try {
    check(api, api.stream_create(&stream_, k_stream_non_blocking), "cuStreamCreate", k_object);
    check(api, api.event_create(&begin_, 0), "cuEventCreate", k_object);
    check(api, api.event_create(&end_, 0), "cuEventCreate", k_object);
  } catch (...) {
    end();
    throw;
  }
}

DeviceStopwatch::~DeviceStopwatch() { end(); }

void DeviceStopwatch::end() noexcept {
  if (!Driver::usable()) {
    return;
  }
  const DriverApi& api = driver_->api();
  if (stream_ != nullptr) {
    api.stream_synchronize(stream_);
  }
  for (CUevent_st* event : {begin_, end_}) {
    if (event != nullptr) {
      api.event_destroy(event);
    }
  }
  if (stream_ != nullptr) {
    api.stream_destroy(stream_);
  }
}

double DeviceStopwatch::milliseconds(const std::function<void()>& work) const {
  const DriverApi& api = driver_->api();
  check(api, api.event_record(begin_, stream_), "cuEventRecord", k_object);
  work();
  check(api, api.event_record(end_, stream_), "cuEventRecord", k_object);
  check(api, api.stream_synchronize(stream_), "cuStreamSynchronize", k_object);
  float elapsed = 0;
  check(api, api.event_elapsed_time(&elapsed, begin_, end_), "cuEventElapsedTime", k_object);
  return elapsed;
}

}  // namespace kiln::jit
