#include "kiln/error.hpp"

#include <utility>

#include "kiln/quote.hpp"

namespace kiln {

const char* name_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::template_invalid:
      return "template_invalid";
    case ErrorCode::compile_failed:
      return "compile_failed";
    case ErrorCode::unsupported_target:
      return "unsupported_target";
    case ErrorCode::file_unreadable:
      return "file_unreadable";
    case ErrorCode::nvrtc_unavailable:
      return "nvrtc_unavailable";
    case ErrorCode::driver_unavailable:
      return "driver_unavailable";
    case ErrorCode::no_device:
      return "no_device";
    case ErrorCode::driver_failed:
      return "driver_failed";
    case ErrorCode::store_failed:
      return "store_failed";
    case ErrorCode::strict_miss:
      return "strict_miss";
    case ErrorCode::capture_active:
      return "capture_active";
    case ErrorCode::host_compiler:
      return "host_compiler";
  }
  return "unknown";
}

Error::Error(ErrorCode code, const std::string& message) : std::runtime_error(printable(message)), code_(code) {}

TemplateError::TemplateError(std::string template_name, std::string parameter, const std::string& message)
    : Error(ErrorCode::template_invalid, "template " + template_name + ": " + message),
      template_name_(std::move(template_name)),
      parameter_(std::move(parameter)) {}

CompileError::CompileError(std::string template_name, std::string log, std::string source,
                           std::vector<std::string> arguments)
    : Error(ErrorCode::compile_failed, "template " + template_name + " does not compile:\n" + log),
      template_name_(std::move(template_name)),
      log_(std::move(log)),
      source_(std::move(source)),
      arguments_(std::move(arguments)) {}

DriverError::DriverError(std::string call, int result, std::string result_name, std::string object)
    : Error(ErrorCode::driver_failed,
            call + " on " + object + " failed: " + result_name + " (" + std::to_string(result) + ")"),
      call_(std::move(call)),
      result_(result),
      result_name_(std::move(result_name)),
      object_(std::move(object)) {}

StoreError::StoreError(std::string path, const std::string& message)
    : Error(ErrorCode::store_failed, one_line(path, 250) + ": " + message), path_(std::move(path)) {}

}  // namespace kiln
