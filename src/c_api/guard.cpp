#include "c_api/guard.hpp"

#include <cstdint>
#include <exception>
#include <new>

#include "kiln/quote.hpp"

namespace kiln::c_api {
namespace {

kiln_status status_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return KILN_INVALID_ARGUMENT;
    case ErrorCode::template_invalid:
      return KILN_TEMPLATE_INVALID;
    case ErrorCode::compile_failed:
      return KILN_COMPILE_FAILED;
    case ErrorCode::unsupported_target:
      return KILN_UNSUPPORTED_TARGET;
    case ErrorCode::file_unreadable:
      return KILN_FILE_UNREADABLE;
    case ErrorCode::nvrtc_unavailable:
      return KILN_NVRTC_UNAVAILABLE;
    case ErrorCode::driver_unavailable:
      return KILN_DRIVER_UNAVAILABLE;
    case ErrorCode::no_device:
      return KILN_NO_DEVICE;
    case ErrorCode::driver_failed:
      return KILN_DRIVER_FAILED;
    case ErrorCode::store_failed:
      return KILN_STORE_FAILED;
    case ErrorCode::strict_miss:
      return KILN_STRICT_MISS;
    case ErrorCode::capture_active:
      return KILN_CAPTURE_ACTIVE;
    case ErrorCode::host_compiler:
      return KILN_HOST_COMPILER;
  }
  return KILN_INTERNAL;
}

kiln_status give(kiln_error** error, kiln_status status, const char* message, const std::string& log) {
  if (error != nullptr) {
    *error = new kiln_error{status, message, log};
  }
  return status;
}

kiln_status convert(kiln_error** error) {
  try {
    throw;
  } catch (const CompileError& failure) {
    return give(error, KILN_COMPILE_FAILED, failure.what(), failure.log());
  } catch (const LoggedError& failure) {
    return give(error, status_of(failure.code()), failure.what(), failure.log());
  } catch (const Error& failure) {
    return give(error, status_of(failure.code()), failure.what(), {});
  } catch (const std::bad_alloc&) {
    return give(error, KILN_OUT_OF_MEMORY, "out of memory", {});
  } catch (const std::exception& failure) {
    return give(error, KILN_INTERNAL, failure.what(), {});
  } catch (...) {
    return give(error, KILN_INTERNAL, "an exception of unknown type", {});
  }
}

const char* required_bytes(const char* text, const char* name) {
  if (text == nullptr) {
    throw Error(ErrorCode::invalid_argument,
                std::string("argument '") + name + "' is NULL; give a text that ends in NUL");
  }
  return text;
}

}  // namespace

kiln_status convert_exception(kiln_error** error) noexcept {
  try {
    return convert(error);
  } catch (...) {  // not even the error object could be made: the status alone tells
    return KILN_OUT_OF_MEMORY;
  }
}

const char* required_path(const char* path, const char* name) {
  if (*required_bytes(path, name) == '\0') {
    throw Error(ErrorCode::invalid_argument, std::string("argument '") + name + "' is empty; give the name of a file");
  }
  return path;
}

const char* required_text(const char* text, const char* name) {
  if (!is_utf8(required_bytes(text, name))) {
    throw Error(ErrorCode::invalid_argument,
                std::string("argument '") + name + "' is no UTF-8: " + quote(text) + "; give UTF-8");
  }
  return text;
}

void check_struct_size(std::size_t size, std::size_t ours, std::size_t alignment, const char* name) {
  if (size <= sizeof(std::size_t) || size > ours || size % alignment != 0) {
    throw Error(ErrorCode::invalid_argument, std::string("argument '") + name + "' says it is " + std::to_string(size) +
                                                 " bytes; set its field 'size' to sizeof the struct (" +
                                                 std::to_string(ours) +
                                                 " in this version of Kiln, or less in older ones)");
  }
}

void check_count(std::size_t count, std::size_t item_bytes) {
  if (count > static_cast<std::size_t>(PTRDIFF_MAX) / item_bytes) {
    throw Error(ErrorCode::invalid_argument,
                "argument 'count' is " + std::to_string(count) + "; no list can be so long, give its number of items");
  }
}

}  // namespace kiln::c_api
