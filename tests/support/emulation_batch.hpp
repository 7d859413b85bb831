#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kiln/source.hpp"

namespace kiln::testing {

/// A source as instantiate() would make it: a main file, its kernels, headers by name.
Source source_of(std::string text, std::vector<std::string> entries, std::vector<Header> headers = {});

/// One failed case of a batch.
struct BatchFailure {
  std::size_t number = 0;
  std::string message;
};

/// Calls `run_case` for 0 … count - 1 on as many threads as the process may use CPUs: a case compiles a kernel for the
/// host (most of its time) and runs it. A case tells what is wrong with it, or throws. Gives the failures in the order
/// of their numbers; after `most` of them no further case is started.
std::vector<BatchFailure> run_batch(std::size_t count,
                                    const std::function<std::optional<std::string>(std::size_t)>& run_case,
                                    std::size_t most = 5);

/// The failures as one text to print.
std::string to_text(const std::vector<BatchFailure>& failures);

}  // namespace kiln::testing
