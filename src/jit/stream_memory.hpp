#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "jit/driver.hpp"
#include "kiln/kernel.hpp"

namespace kiln::jit {

/// Device memory of the current context for the work that a stream is given between the making of this and its end:
/// allocated and freed in the stream's order, so that nothing waits. 256-byte aligned. While the stream is captured
/// both become nodes of the graph.
class StreamMemory {
 public:
  /// `what` it is, for errors. Throws DriverError.
  StreamMemory(std::shared_ptr<const Driver> driver, std::size_t bytes, Stream stream,
               const std::string& what = "scratch memory; memory of the caller's can be given instead");
  ~StreamMemory();
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;

  void* data() const noexcept;

 private:
  std::shared_ptr<const Driver> driver_;
  Stream stream_;
  unsigned long long address_ = 0;
};

/// Sets `bytes` bytes, a multiple of 4, to 0 in the stream's order. Throws DriverError.
void clear_in_stream(const Driver& driver, void* address, std::size_t bytes, Stream stream);

}  // namespace kiln::jit
