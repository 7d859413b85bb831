#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cache/tunings.hpp"
#include "kiln/service.hpp"

namespace kiln::service {

/// What a service's user cache remembers of measured choices. Thread-safe; never throws because of the cache's state.
class Tunings {
 public:
  explicit Tunings(const Service& service) : service_(service) {}

  std::optional<std::string> find(const cache::Tuning& tuning) const;
  void put(const cache::Tuning& tuning, std::string_view strategy) const;
  /// What was found does not apply: it is counted as damaged, and said.
  void reject(std::string_view strategy, const std::string& why) const;

 private:
  const Service& service_;
};

}  // namespace kiln::service
