#include <algorithm>
#include <array>
#include <string>

#include "kiln/error.hpp"
#include "kiln/permuter.hpp"
#include "kiln/quote.hpp"

namespace kiln {

namespace {

struct Name {
  PermuteStrategy strategy;
  std::string_view name;
};
constexpr std::array<Name, 7> k_names{{{PermuteStrategy::automatic, "automatic"},
                                       {PermuteStrategy::direct, "direct"},
                                       {PermuteStrategy::staged, "staged"},
                                       {PermuteStrategy::tiled, "tiled"},
                                       {PermuteStrategy::bucketed, "bucketed"},
                                       {PermuteStrategy::rows, "rows"},
                                       {PermuteStrategy::elements, "elements"}}};

}  // namespace

std::string_view strategy_name(PermuteStrategy strategy) {
  const auto* found = std::ranges::find(k_names, strategy, &Name::strategy);
  if (found == k_names.end()) {
    throw Error(ErrorCode::invalid_argument,
                "strategy is number " + std::to_string(static_cast<int>(strategy)) + ": there is none of that number");
  }
  return found->name;
}

PermuteStrategy parse_strategy(std::string_view name) {
  const auto* found = std::ranges::find(k_names, name, &Name::name);
  if (found == k_names.end()) {
    std::string names;
    for (const Name& known : k_names) {
      names += (names.empty() ? "" : ", ") + std::string(known.name);
    }
    throw Error(ErrorCode::invalid_argument, "strategy is " + quote(name) + ": it must be one of " + names);
  }
  return found->strategy;
}

}  // namespace kiln
