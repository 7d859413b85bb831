#include "cli/exit_code.hpp"

namespace kiln::cli {

ExitCode exit_code_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::nvrtc_unavailable:
    case ErrorCode::driver_unavailable:
    case ErrorCode::no_device:
    case ErrorCode::host_compiler:
      return k_environment;
    case ErrorCode::invalid_argument:
    case ErrorCode::template_invalid:
    case ErrorCode::compile_failed:
    case ErrorCode::unsupported_target:
    case ErrorCode::file_unreadable:
    case ErrorCode::driver_failed:
    case ErrorCode::store_failed:
    case ErrorCode::strict_miss:
    case ErrorCode::capture_active:
      return k_failed;
  }
  return k_failed;
}

}  // namespace kiln::cli
