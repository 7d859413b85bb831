#pragma once

#include <stdexcept>

#include "kiln/error.hpp"

namespace kiln::cli {

/// What the program tells the shell.
enum ExitCode : int {
  k_done = 0,
  k_failed = 1,       ///< the operation failed
  k_usage = 2,        ///< the command line, or an environment variable of Kiln's, makes no sense
  k_environment = 3,  ///< NVRTC, the driver, a GPU or the host compiler is missing
};

ExitCode exit_code_of(ErrorCode code) noexcept;

/// The command line cannot be carried out as it is written.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs `make`, whose Error means that what was written on the command line is wrong.
template <typename Make>
auto as_usage(Make make) {
  try {
    return make();
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

}  // namespace kiln::cli
