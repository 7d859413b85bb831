#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;
struct CUfunc_st;

namespace kiln::test {

/// The CUDA driver as a host application sees it: what tests and benchmarks need around Kiln (memory, streams,
/// captures, events), apart from Kiln's own table of entry points.
struct Cuda {
  using Result = int;
  using Pointer = std::uint64_t;
  /// CUDA_MEMCPY2D, from device memory to device memory.
  struct Copy2d {
    std::size_t from_x = 0;
    std::size_t from_y = 0;
    unsigned from_type = 2;  // CU_MEMORYTYPE_DEVICE
    const void* from_host = nullptr;
    Pointer from = 0;
    void* from_array = nullptr;
    std::size_t from_pitch = 0;
    std::size_t to_x = 0;
    std::size_t to_y = 0;
    unsigned to_type = 2;
    void* to_host = nullptr;
    Pointer to = 0;
    void* to_array = nullptr;
    std::size_t to_pitch = 0;
    std::size_t width = 0;  // bytes
    std::size_t height = 0;
  };

  Result (*init)(unsigned);
  Result (*driver_version)(int*);
  Result (*device_count)(int*);
  Result (*device_name)(char*, int bytes, int device);
  Result (*device_attribute)(int*, int attribute, int device);
  Result (*primary_retain)(CUctx_st**, int device);
  Result (*primary_release)(int device);
  Result (*primary_reset)(int device);
  Result (*context_create)(CUctx_st**, unsigned flags, int device);
  Result (*context_destroy)(CUctx_st*);
  Result (*set_current)(CUctx_st*);
  Result (*get_current)(CUctx_st**);
  Result (*synchronize)();
  Result (*allocate)(Pointer*, std::size_t bytes);
  Result (*free)(Pointer);
  Result (*to_device)(Pointer, const void*, std::size_t bytes);
  Result (*to_host)(void*, Pointer, std::size_t bytes);
  Result (*copy_async)(Pointer to, Pointer from, std::size_t bytes, CUstream_st*);
  Result (*copy_2d_async)(const Copy2d*, CUstream_st*);
  Result (*stream_create)(CUstream_st**, unsigned flags);
  Result (*stream_destroy)(CUstream_st*);
  Result (*stream_synchronize)(CUstream_st*);
  Result (*begin_capture)(CUstream_st*, int mode);
  Result (*end_capture)(CUstream_st*, CUgraph_st**);
  Result (*graph_instantiate)(CUgraphExec_st**, CUgraph_st*, std::uint64_t flags);
  Result (*graph_launch)(CUgraphExec_st*, CUstream_st*);
  Result (*graph_exec_destroy)(CUgraphExec_st*);
  Result (*graph_destroy)(CUgraph_st*);
  Result (*event_create)(CUevent_st**, unsigned flags);
  Result (*event_destroy)(CUevent_st*);
  Result (*event_record)(CUevent_st*, CUstream_st*);
  Result (*event_synchronize)(CUevent_st*);
  Result (*event_elapsed_ms)(float*, CUevent_st*, CUevent_st*);
  Result (*launch)(CUfunc_st*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared,
                   CUstream_st*, void** arguments, void** extra);
};

/// Throws naming `what` unless `result` is success.
void require(Cuda::Result result, const char* what);

/// Device 0 with its primary context, retained for the life of the process and current in the thread that asks.
class Gpu {
 public:
  /// Null when there is no driver, no GPU or an unusable one; `why_not` then says which.
  static const Gpu* get(std::string& why_not);
  /// Throws when there is none.
  static const Gpu& get();

  const Cuda& cuda() const noexcept { return cuda_; }
  CUctx_st* context() const noexcept { return context_; }
  /// major * 10 + minor.
  int capability() const noexcept { return capability_; }
  int device_count() const noexcept { return device_count_; }
  int driver_version() const noexcept { return driver_version_; }
  const std::string& name() const noexcept { return name_; }
  void make_current() const { require(cuda_.set_current(context_), "cuCtxSetCurrent"); }
  /// Resets the primary context, as cudaDeviceReset does, and makes the new one current.
  void reset_primary_context() const;

 private:
  Gpu();

  Cuda cuda_{};
  mutable CUctx_st* context_ = nullptr;
  int capability_ = 0;
  int device_count_ = 0;
  int driver_version_ = 0;
  std::string name_;
};

/// Device memory holding `size` values.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) {
    require(Gpu::get().cuda().allocate(&pointer_, size * sizeof(T) + 1), "cuMemAlloc");
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) { write(values); }
  ~DeviceArray() { Gpu::get().cuda().free(pointer_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  /// As a kernel argument.
  T* get() const noexcept { return reinterpret_cast<T*>(pointer_); }
  Cuda::Pointer address() const noexcept { return pointer_; }
  std::size_t size() const noexcept { return size_; }
  void write(const std::vector<T>& values) const {
    require(Gpu::get().cuda().to_device(pointer_, values.data(), values.size() * sizeof(T)), "cuMemcpyHtoD");
  }
  /// Waits for all work of the context first.
  std::vector<T> read() const {
    std::vector<T> values(size_);
    require(Gpu::get().cuda().synchronize(), "cuCtxSynchronize");
    require(Gpu::get().cuda().to_host(values.data(), pointer_, size_ * sizeof(T)), "cuMemcpyDtoH");
    return values;
  }

 private:
  Cuda::Pointer pointer_ = 0;
  std::size_t size_;
};

/// A stream; a blocking one unless `non_blocking`.
class GpuStream {
 public:
  explicit GpuStream(bool non_blocking = false) {
    require(Gpu::get().cuda().stream_create(&stream_, non_blocking ? 1 : 0), "cuStreamCreate");
  }
  ~GpuStream() { Gpu::get().cuda().stream_destroy(stream_); }
  GpuStream(const GpuStream&) = delete;
  GpuStream& operator=(const GpuStream&) = delete;

  CUstream_st* get() const noexcept { return stream_; }
  void synchronize() const { require(Gpu::get().cuda().stream_synchronize(stream_), "cuStreamSynchronize"); }

 private:
  CUstream_st* stream_ = nullptr;
};

}  // namespace kiln::test
