#include "c_api/guard.hpp"

const char* kiln_version(void) { return KILN_VERSION_TEXT; }

const char* kiln_status_name(kiln_status status) {
  switch (status) {
    case KILN_OK:
      return "ok";
    case KILN_INVALID_ARGUMENT:
      return "invalid_argument";
    case KILN_TEMPLATE_INVALID:
      return "template_invalid";
    case KILN_COMPILE_FAILED:
      return "compile_failed";
    case KILN_UNSUPPORTED_TARGET:
      return "unsupported_target";
    case KILN_FILE_UNREADABLE:
      return "file_unreadable";
    case KILN_NVRTC_UNAVAILABLE:
      return "nvrtc_unavailable";
    case KILN_DRIVER_UNAVAILABLE:
      return "driver_unavailable";
    case KILN_NO_DEVICE:
      return "no_device";
    case KILN_DRIVER_FAILED:
      return "driver_failed";
    case KILN_STORE_FAILED:
      return "store_failed";
    case KILN_STRICT_MISS:
      return "strict_miss";
    case KILN_CAPTURE_ACTIVE:
      return "capture_active";
    case KILN_HOST_COMPILER:
      return "host_compiler";
    case KILN_OUT_OF_MEMORY:
      return "out_of_memory";
    case KILN_INTERNAL:
      return "internal";
  }
  return "unknown";
}

kiln_status kiln_error_code(const kiln_error* error) { return error == nullptr ? KILN_OK : error->code; }
const char* kiln_error_message(const kiln_error* error) { return error == nullptr ? "" : error->message.c_str(); }
const char* kiln_error_log(const kiln_error* error) { return error == nullptr ? "" : error->log.c_str(); }
void kiln_error_free(kiln_error* error) { delete error; }
