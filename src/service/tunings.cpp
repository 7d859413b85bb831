#include "service/tunings.hpp"

#include "kiln/quote.hpp"
#include "service/service_state.hpp"

namespace kiln::service {

std::optional<std::string> Tunings::find(const cache::Tuning& tuning) const {
  return service_.state().store.remembered_tuning(tuning);
}

void Tunings::put(const cache::Tuning& tuning, std::string_view strategy) const {
  service_.state().store.remember_tuning(tuning, strategy);
}

void Tunings::reject(std::string_view strategy, const std::string& why) const {
  Service::State& state = service_.state();
  state.store.count({.corrupt_dropped = 1});
  if (state.options.log) {
    state.options.log(LogLevel::warning, "the cache remembers strategy " + quote(strategy) +
                                             " as measured fastest, which cannot be: " + why +
                                             "; it is measured again");
  }
}

}  // namespace kiln::service
