// Streams, events and memory of the fake libcuda.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "support/fake_cuda_entry.hpp"

using namespace kiln::jit;
using namespace kiln::test;

namespace {

int stream_create(CUstream_st** stream, unsigned) {
  ENTER_UNSAFE("cuStreamCreate");
  static int handles = 0;
  *stream = reinterpret_cast<CUstream_st*>(&handles);
  ++g_driver.fake.streams;
  return k_cuda_success;
}

int stream_destroy(CUstream_st*) {
  ENTER("cuStreamDestroy");
  --g_driver.fake.streams;
  g_driver.copies.clear();
  return k_cuda_success;
}

int stream_synchronize(CUstream_st*) {
  ENTER_UNSAFE("cuStreamSynchronize");
  for (const FakeCopy& copy : g_driver.copies) {
    std::memcpy(copy.to, copy.bytes.data(), copy.bytes.size());
  }
  g_driver.copies.clear();
  return k_cuda_success;
}

int event_create(CUevent_st** event, unsigned) {
  ENTER("cuEventCreate");
  *event = new CUevent_st;
  ++g_driver.fake.events;
  return k_cuda_success;
}

int event_record(CUevent_st* event, CUstream_st*) {
  ENTER("cuEventRecord");
  event->at_us = g_driver.clock_us;
  return k_cuda_success;
}

int event_elapsed_time(float* milliseconds, CUevent_st* begin, CUevent_st* end) {
  ENTER("cuEventElapsedTime");
  if (begin->at_us < 0 || end->at_us < 0) {
    return k_cuda_invalid_handle;
  }
  *milliseconds = static_cast<float>((end->at_us - begin->at_us) / 1000);
  return k_cuda_success;
}

int event_destroy(CUevent_st* event) {
  ENTER("cuEventDestroy");
  delete event;
  --g_driver.fake.events;
  return k_cuda_success;
}

int stream_is_capturing(CUstream_st* stream, int* status) {
  ENTER("cuStreamIsCapturing");
  if (t_thread.current() == nullptr) {
    return k_cuda_invalid_context;
  }
  *status = 0;
  return stream == nullptr && t_thread.current()->capturing ? k_cuda_capture_implicit : k_cuda_success;
}

int thread_exchange_stream_capture_mode(int* mode) {
  ENTER("cuThreadExchangeStreamCaptureMode");
  std::swap(*mode, t_thread.capture_mode);
  return k_cuda_success;
}

int memcpy_htod_async(DevicePointer to, const void* from, std::size_t bytes, CUstream_st* stream) {
  ENTER_UNSAFE("cuMemcpyHtoDAsync");
  if (stream == nullptr) {
    return k_cuda_capture_implicit;  // Kiln must stay off the application's default stream
  }
  const auto* begin = static_cast<const std::byte*>(from);
  g_driver.copies.push_back({reinterpret_cast<void*>(to), {begin, begin + bytes}});
  return k_cuda_success;
}

int memset_d32_async(DevicePointer address, unsigned value, std::size_t count, CUstream_st*) {
  ENTER("cuMemsetD32Async");
  std::fill_n(reinterpret_cast<unsigned*>(address), count, value);
  return k_cuda_success;
}

int mem_alloc_async(DevicePointer* address, std::size_t bytes, CUstream_st*) {
  ENTER("cuMemAllocAsync");
  if (bytes > g_driver.fake.memory_bytes - std::min(g_driver.fake.memory_bytes, g_driver.fake.stream_bytes)) {
    return k_cuda_out_of_memory;
  }
  auto* memory = static_cast<std::size_t*>(std::malloc(sizeof(std::max_align_t) + bytes));
  *memory = bytes;
  *address = reinterpret_cast<DevicePointer>(memory) + sizeof(std::max_align_t);
  g_driver.fake.stream_bytes += bytes;
  g_driver.fake.most_stream_bytes = std::max(g_driver.fake.most_stream_bytes, g_driver.fake.stream_bytes);
  return k_cuda_success;
}

int mem_free_async(DevicePointer address, CUstream_st*) {
  ENTER("cuMemFreeAsync");
  auto* memory = reinterpret_cast<std::size_t*>(address - sizeof(std::max_align_t));
  g_driver.fake.stream_bytes -= *memory;
  std::free(memory);
  return k_cuda_success;
}

}  // namespace

namespace kiln::test {

std::span<const Export> stream_exports() {
  static const Export exports[] = {
      row("cuStreamCreate", 2000, stream_create),
      row("cuStreamDestroy", 4000, stream_destroy),
      row("cuStreamSynchronize", 2000, stream_synchronize),
      row("cuEventCreate", 2000, event_create),
      row("cuEventRecord", 2000, event_record),
      row("cuEventElapsedTime", 2000, event_elapsed_time),
      row("cuEventDestroy", 4000, event_destroy),
      row("cuStreamIsCapturing", 10000, stream_is_capturing),
      row("cuThreadExchangeStreamCaptureMode", 10010, thread_exchange_stream_capture_mode),
      row("cuMemcpyHtoDAsync", 3020, memcpy_htod_async),
      row("cuMemsetD32Async", 3020, memset_d32_async),
      row("cuMemAllocAsync", 11020, mem_alloc_async),
      row("cuMemFreeAsync", 11020, mem_free_async),
  };
  return exports;
}

}  // namespace kiln::test
