#include "permutation/tune.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/key.hpp"
#include "jit/devices.hpp"
#include "jit/driver.hpp"
#include "kiln/error.hpp"
#include "permutation/measure.hpp"
#include "service/tunings.hpp"

namespace kiln::permutation {

namespace {

constexpr std::size_t k_most_tried = 3;
// Slower than that by expectation is not tried: expectations are nearer than this to what was measured.
constexpr double k_worth_trying = 0.5;
// Measurements repeat no better: the expected one is taken where another is not faster by more.
constexpr double k_faster = 0.97;
constexpr std::uint64_t k_most_rows = std::uint64_t{1} << 40;

/// The one that would be chosen first, then by how fast they are expected to be. That one alone where nothing is
/// expected of others: of rows that are pitched or in place.
std::vector<PermuteStrategy> worth_trying(const PermuteRequest& request) {
  std::vector<PermuteStrategy> strategies{parse_strategy(request.strategy)};
  for (const PermuteCandidate& candidate : request.candidates) {
    if (candidate.speed >= k_worth_trying * request.candidates.front().speed &&
        candidate.strategy != strategies.front() && strategies.size() < k_most_tried) {
      strategies.push_back(candidate.strategy);
    }
  }
  return strategies;
}

cache::Tuning tuning_of(const IndexMap& map, const PermuteShape& shape, const Target& target,
                        const jit::Driver& driver) {
  const auto [high, low] = map.digest();
  const std::uint64_t rows = shape.typical_rows == 0 ? 0 : std::bit_ceil(std::min(shape.typical_rows, k_most_rows));
  // Kernels change with Kiln: what was measured with another version says little.
  return {cache::to_digest(Key{high, low}), shape.element_bytes, shape.inner, rows,
          jit::current_device_text(driver) + ", target " + target.text() + ", Kiln " KILN_VERSION_TEXT};
}

/// What the cache remembers, if it can move this map.
std::optional<PermuteStrategy> remembered(const service::Tunings& tunings, const cache::Tuning& tuning,
                                          const PermuteRequest& request) {
  const std::optional<std::string> found = tunings.find(tuning);
  if (!found) {
    return std::nullopt;
  }
  const auto candidate = std::ranges::find_if(request.candidates, [&](const PermuteCandidate& each) {
    return each.speed > 0 && strategy_name(each.strategy) == *found;
  });
  if (candidate == request.candidates.end()) {
    tunings.reject(*found, "it is no strategy that moves this map");
    return std::nullopt;
  }
  return candidate->strategy;
}

struct Candidates {
  std::vector<PermuteStrategy> strategies;
  std::vector<PermuteKernel> kernels;
};

/// Those that can be had: in strict mode no layer may have the others.
Candidates kernels_of(const std::vector<PermuteStrategy>& strategies, const Permuter& permuter, const IndexMap& map,
                      PermuteShape shape, const Target& target) {
  Candidates found;
  for (const PermuteStrategy strategy : strategies) {
    shape.strategy = strategy;
    try {
      found.kernels.push_back(permuter.get(map, shape, target));
      found.strategies.push_back(strategy);
    } catch (const Error& error) {
      const bool is_last = strategy == strategies.back() && found.kernels.empty();
      if (error.code() != ErrorCode::strict_miss || is_last) {
        throw;
      }
    }
  }
  return found;
}

}  // namespace

PermuteStrategy tuned_strategy(const Permuter& permuter, const Service& service, const IndexMap& map,
                               const PermuteShape& shape, const Target& target) {
  const PermuteRequest request = plan_permute(map, shape, target);
  const std::vector<PermuteStrategy> strategies = worth_trying(request);
  if (strategies.size() == 1) {
    return strategies.front();
  }
  const std::shared_ptr<const jit::Driver> driver = jit::Driver::open();
  const service::Tunings tunings(service);
  const cache::Tuning tuning = tuning_of(map, shape, target, *driver);
  if (const std::optional<PermuteStrategy> known = remembered(tunings, tuning, request)) {
    return *known;
  }
  if (driver->capture_active()) {
    throw Error(
        ErrorCode::capture_active,
        "a permutation is not tuned yet, and a stream of the current context is being captured: call tune() once "
        "before the capture begins, or get(), which measures nothing. The capture is not affected");
  }
  const Candidates candidates = kernels_of(strategies, permuter, map, shape, target);
  if (candidates.kernels.size() == 1) {
    return candidates.strategies.front();
  }
  const std::vector<double> times = measure(candidates.kernels, row_bytes(map, shape), shape.typical_rows);
  const auto fastest = std::ranges::min_element(times);
  const bool is_faster = *fastest < k_faster * times.front();
  const PermuteStrategy winner =
      candidates.strategies[is_faster ? static_cast<std::size_t>(fastest - times.begin()) : 0];
  tunings.put(tuning, strategy_name(winner));
  return winner;
}

}  // namespace kiln::permutation
