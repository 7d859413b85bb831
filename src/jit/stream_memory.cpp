#include "jit/stream_memory.hpp"

#include <string>
#include <utility>

#include "jit/driver_api.hpp"

namespace kiln::jit {

StreamMemory::StreamMemory(std::shared_ptr<const Driver> driver, std::size_t bytes, Stream stream,
                           const std::string& what)
    : driver_(std::move(driver)), stream_(stream) {
  Driver::require_usable();
  const DriverApi& api = driver_->api();
  check(api, api.mem_alloc_async(&address_, bytes, stream_), "cuMemAllocAsync",
        std::to_string(bytes) + " bytes of " + what);
}

StreamMemory::~StreamMemory() {
  if (Driver::usable()) {
    driver_->api().mem_free_async(address_, stream_);
  }
}

void* StreamMemory::data() const noexcept { return reinterpret_cast<void*>(address_); }

void clear_in_stream(const Driver& driver, void* address, std::size_t bytes, Stream stream) {
  const DriverApi& api = driver.api();
  check(
      api,
      api.memset_d32_async(static_cast<DevicePointer>(reinterpret_cast<std::uintptr_t>(address)), 0, bytes / 4, stream),
      "cuMemsetD32Async", std::to_string(bytes) + " bytes of scratch memory");
}

}  // namespace kiln::jit
