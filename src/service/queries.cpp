// What a service tells about itself and its cache; nothing here is on the request path.
#include "kiln/quote.hpp"
#include "service/service_state.hpp"

namespace kiln {

namespace {

/// Shortest prefix `show` takes, in hex digits: fewer would nearly always be several keys.
constexpr std::size_t k_key_digits = 32;

void check_key_prefix(std::string_view prefix) {
  bool hex = prefix.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (prefix.empty() || prefix.size() > k_key_digits || !hex) {
    throw Error(ErrorCode::invalid_argument, "key " + quote(prefix) +
                                                 " is not one: give the first of its 32 lower-case hex digits, as "
                                                 "`kiln query` lists them");
  }
}

}  // namespace

Lookup Service::find(const Template& tmpl, const Values& values, const Target& target) const {
  State& state = this->state();
  service::Request request = service::make_request(tmpl, values, state.resolve(target));
  service::Clock::time_point start = service::Clock::now();
  Lookup found = state.find_in_memory(request);
  if (!found.artifact) {
    found = state.find_in_layers(request);
  }
  state.count(found.outcome);
  found.lookup_us = std::chrono::duration<double, std::micro>(service::Clock::now() - start).count();
  return found;
}

std::pair<Key, std::string> Service::key_of(const Template& tmpl, const Values& values, const Target& target) const {
  service::Request request = service::make_request(tmpl, values, target);
  return {request.key, std::move(request.spec)};
}

Target Service::resolve(const Target& target) const { return state().resolve(target); }

std::uint64_t Service::context_id() const noexcept {
  if (!jit::Driver::opened() || !jit::Driver::usable()) {
    return 0;
  }
  try {
    return jit::Driver::open()->current_context().id;
  } catch (const Error&) {
    return 0;
  }
}

void Service::query(const Query& query, const std::function<bool(const Entry&)>& visit) const {
  if (!query.key_prefix.empty()) {
    check_key_prefix(query.key_prefix);
  }
  state().store.query(query, visit);
}

std::vector<Entry> Service::query(const Query& query) const {
  std::vector<Entry> entries;
  this->query(query, [&](const Entry& entry) {
    entries.push_back(entry);
    return true;
  });
  return entries;
}

std::optional<Artifact> Service::show(std::string_view key_prefix) const {
  check_key_prefix(key_prefix);
  std::vector<Artifact> artifacts = state().store.find_by_prefix(key_prefix);
  if (artifacts.empty()) {
    return std::nullopt;
  }
  std::string others;
  for (const Artifact& artifact : artifacts) {
    if (artifact.key != artifacts.front().key) {
      others += " " + artifact.key.text();
    }
  }
  if (!others.empty()) {
    throw Error(ErrorCode::invalid_argument, "several keys begin with " + std::string(key_prefix) + ": " +
                                                 artifacts.front().key.text() + others + "; give more digits");
  }
  return std::move(artifacts.front());
}

Stats Service::stats() const {
  State& state = this->state();
  Stats stats;
  stats.memory_hits = state.memory_hits;
  stats.max_bytes = state.options.max_bytes;
  stats.loaded = state.loaded.size();
  state.store.fill(stats);
  return stats;
}

std::uint64_t Service::clear() const {
  State& state = this->state();
  state.artifacts.clear();
  state.failures.clear();
  return state.store.clear();
}

const ServiceOptions& Service::options() const noexcept { return state().options; }

}  // namespace kiln
