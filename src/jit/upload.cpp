#include "jit/upload.hpp"

#include "jit/driver_api.hpp"
#include "kiln/error.hpp"
#include "kiln/quote.hpp"

namespace kiln::jit {

namespace {

/// A stream of its own: the default stream would wait for the application's work, and could be part of a capture.
class UploadStream {
 public:
  UploadStream(const DriverApi& api, const std::string& object) : api_(api) {
    check(api, api.stream_create(&stream_, k_stream_non_blocking), "cuStreamCreate", object);
  }
  ~UploadStream() { api_.stream_destroy(stream_); }
  UploadStream(const UploadStream&) = delete;
  UploadStream& operator=(const UploadStream&) = delete;

  CUstream_st* get() const noexcept { return stream_; }

 private:
  const DriverApi& api_;
  CUstream_st* stream_ = nullptr;
};

}  // namespace

void upload(const Library& library, const std::string& symbol, std::span<const std::byte> data) {
  const DriverApi& api = library.driver().api();
  std::string object = "variable " + quote(symbol) + " of template " + library.artifact().template_name;
  DevicePointer address = 0;
  std::size_t bytes = 0;
  if (library.image().library != nullptr) {
    check(api, api.library_get_global(&address, &bytes, library.image().library, symbol.c_str()), "cuLibraryGetGlobal",
          object);
  } else {
    check(api, api.module_get_global(&address, &bytes, library.image().module, symbol.c_str()), "cuModuleGetGlobal",
          object);
  }
  if (data.size() > bytes) {
    throw Error(ErrorCode::invalid_argument, object + " holds " + std::to_string(bytes) + " bytes, but " +
                                                 std::to_string(data.size()) +
                                                 " were given for it: declare it at least that large");
  }
  UploadStream stream(api, object);
  check(api, api.memcpy_htod_async(address, data.data(), data.size(), stream.get()), "cuMemcpyHtoDAsync", object);
  check(api, api.stream_synchronize(stream.get()), "cuStreamSynchronize", object);
}

}  // namespace kiln::jit
