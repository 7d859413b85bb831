#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "emulated/permutation_case.hpp"
#include "support/emulation_batch.hpp"

namespace kiln::testing {

/// What became of many generated cases.
struct PermutationBatch {
  std::vector<BatchFailure> failures;
  std::map<std::string, std::size_t> kernels;  ///< by what they are counted as
  std::size_t launches = 0;
};

/// Checks cases 0 … count - 1, as run_batch does; where `generate` gives nothing there is no such case. Each is counted
/// as all that `names` gives: its strategy, unless told otherwise.
inline PermutationBatch check_permutations(
    std::size_t count, const std::function<std::optional<PermutationCase>(std::size_t)>& generate,
    const std::function<std::vector<std::string>(const PermutationCase&, const PermutationCoverage&)>& names =
        [](const PermutationCase&, const PermutationCoverage& coverage) { return std::vector{coverage.strategy}; }) {
  PermutationBatch batch;
  std::mutex mutex;  // guards the counts
  batch.failures = run_batch(count, [&](std::size_t number) -> std::optional<std::string> {
    const std::optional<PermutationCase> item = generate(number);
    if (!item) {
      return std::nullopt;
    }
    PermutationCoverage coverage;
    auto wrong = check_permutation(*item, &coverage);
    const std::scoped_lock lock(mutex);
    batch.launches += coverage.launches;
    for (const std::string& name : names(*item, coverage)) {
      ++batch.kernels[name];
    }
    return wrong;
  });
  return batch;
}

}  // namespace kiln::testing
