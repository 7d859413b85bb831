#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "kiln/export.h"

/// Everything Kiln throws derives from `kiln::Error` and carries a code of the closed set `ErrorCode`.
/// Absence ("no such row") is never an error: it is a `std::optional`.
namespace kiln {

enum class ErrorCode {
  invalid_argument,    ///< a value handed to Kiln cannot be used (index map, launch shape, option)
  template_invalid,    ///< a template's declarations, or the values given for them, do not fit
  compile_failed,      ///< NVRTC refused the source; see CompileError
  unsupported_target,  ///< the target is well formed, but the compiler or the device cannot serve it
  file_unreadable,     ///< a file the caller named is missing, unreadable or not what it should be
  nvrtc_unavailable,   ///< no NVRTC library could be opened
  driver_unavailable,  ///< no CUDA driver library could be opened, or it is too old
  no_device,           ///< the driver is there, but no GPU or no current context
  driver_failed,       ///< a driver call failed; see DriverError
  store_failed,        ///< a cache or pack operation the caller asked for by name failed; see StoreError
  strict_miss,         ///< strict mode: the kernel is in no layer and compiling is not allowed
  capture_active,      ///< the kernel would have to be loaded while a stream is being captured
  host_compiler,       ///< the host compiler that emulation needs is missing or failed
};

/// The code's name as written above, e.g. "compile_failed".
KILN_EXPORT const char* name_of(ErrorCode code) noexcept;

class KILN_EXPORT Error : public std::runtime_error {
 public:
  /// What cannot be shown in `message` is escaped, since it may quote anything: see kiln/quote.hpp.
  Error(ErrorCode code, const std::string& message);
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// A template or the values given for its parameters are wrong.
class KILN_EXPORT TemplateError : public Error {
 public:
  /// `parameter` may be empty when the error is about the template as a whole.
  TemplateError(std::string template_name, std::string parameter, const std::string& message);
  const std::string& template_name() const noexcept { return template_name_; }
  const std::string& parameter() const noexcept { return parameter_; }

 private:
  std::string template_name_;
  std::string parameter_;
};

/// NVRTC refused a source. `what()` holds the first lines; the fields hold everything.
class KILN_EXPORT CompileError : public Error {
 public:
  CompileError(std::string template_name, std::string log, std::string source, std::vector<std::string> arguments);
  const std::string& template_name() const noexcept { return template_name_; }
  const std::string& log() const noexcept { return log_; }
  /// The instantiated source with line numbers that match the log's.
  const std::string& source() const noexcept { return source_; }
  /// The exact arguments NVRTC was given, in order.
  const std::vector<std::string>& arguments() const noexcept { return arguments_; }

 private:
  std::string template_name_;
  std::string log_;
  std::string source_;
  std::vector<std::string> arguments_;
};

/// A CUDA driver call failed.
class KILN_EXPORT DriverError : public Error {
 public:
  /// `call` is the driver function, `result` its CUresult, `result_name` e.g. "CUDA_ERROR_INVALID_IMAGE",
  /// `object` what it was called on, e.g. "kernel 'permute' for sm_90".
  DriverError(std::string call, int result, std::string result_name, std::string object);
  const std::string& call() const noexcept { return call_; }
  int result() const noexcept { return result_; }
  const std::string& result_name() const noexcept { return result_name_; }
  const std::string& object() const noexcept { return object_; }

 private:
  std::string call_;
  int result_;
  std::string result_name_;
  std::string object_;
};

/// A cache or pack operation that the caller asked for by name failed. Never thrown by `Service::get`.
class KILN_EXPORT StoreError : public Error {
 public:
  StoreError(std::string path, const std::string& message);
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace kiln
