#include <algorithm>

#include "cache/spec.hpp"
#include "service/service_state.hpp"

namespace kiln {

namespace {

/// How many entries of the same template are compared with the request, most recently used first.
constexpr std::uint64_t k_most_compared = 64;
constexpr std::size_t k_most_shown = 200;

std::string shortened(std::string_view text) {
  return text.size() <= k_most_shown ? std::string(text) : std::string(text.substr(0, k_most_shown - 3)) + "...";
}

/// The fields of a spec, the target before the options: an option that follows from the target is then never named in
/// its place.
std::vector<cache::SpecField> fields_of(std::string_view spec) {
  std::vector<cache::SpecField> fields = cache::parse_spec(spec);
  auto has_label = [](std::string_view label) {
    return [label](const cache::SpecField& field) { return field.label == label; };
  };
  auto option = std::find_if(fields.begin(), fields.end(), has_label("option"));
  auto target = std::find_if(option, fields.end(), has_label("target"));
  if (target != fields.end()) {
    std::rotate(option, target, target + 1);
  }
  return fields;
}

struct Difference {
  std::size_t equal_fields = 0;  ///< before the first that differs: the more, the nearer
  std::string field;
  std::string ours;
  std::string theirs;
};

/// The first field in which two specs differ. A field that only one of them has differs from nothing.
Difference first_difference(const std::vector<cache::SpecField>& ours, const std::vector<cache::SpecField>& theirs) {
  std::size_t i = 0;
  while (i < ours.size() && i < theirs.size() && ours[i].label == theirs[i].label &&
         ours[i].content == theirs[i].content) {
    ++i;
  }
  Difference difference;
  difference.equal_fields = i;
  bool same_label = i < ours.size() && i < theirs.size() && ours[i].label == theirs[i].label;
  if (same_label) {
    // Long texts differ somewhere: show where.
    auto [a, b] = std::mismatch(ours[i].content.begin(), ours[i].content.end(), theirs[i].content.begin(),
                                theirs[i].content.end());
    auto from = static_cast<std::size_t>(a - ours[i].content.begin());
    from = ours[i].content.size() <= k_most_shown && theirs[i].content.size() <= k_most_shown ? 0 : from;
    difference.field = ours[i].label;
    difference.ours = shortened(ours[i].content.substr(from));
    difference.theirs = shortened(theirs[i].content.substr(from));
  } else if (i < ours.size()) {
    difference.field = ours[i].label;
    difference.ours = shortened(ours[i].content);
  } else if (i < theirs.size()) {
    difference.field = theirs[i].label;
    difference.theirs = shortened(theirs[i].content);
  }
  return difference;
}

/// Empty when `resolve`, which asks the compiler for the target, has an answer.
template <typename Resolve>
std::string obstacle(bool strict, Resolve resolve) {
  if (strict) {
    return "strict mode: nothing is compiled";
  }
  try {
    resolve();
    return {};
  } catch (const Error& error) {
    return error.code() == ErrorCode::nvrtc_unavailable
               ? "no NVRTC is found here: `kiln doctor` shows where it was looked for"
               : error.what();
  }
}

}  // namespace

Explanation Service::explain(const Template& tmpl, const Values& values, const Target& target) const {
  State& state = this->state();
  service::Request request = service::make_request(tmpl, values, state.resolve(target));
  Explanation explanation;
  explanation.key = request.key;
  if (auto hit = state.store.get(request.key, request.spec, [&] { return state.installed_compiler(); })) {
    explanation.hit = true;
    explanation.layer = hit->layer;
    return explanation;
  }
  explanation.obstacle = obstacle(state.options.strict, [&] { state.nvrtc()->resolve(request.target); });

  Query query;
  query.template_name = request.source.name;
  query.limit = k_most_compared;
  std::vector<cache::SpecField> ours = fields_of(request.spec);
  std::optional<Difference> nearest;
  for (const Entry& entry : this->query(query)) {
    std::vector<Artifact> artifacts = state.store.find_by_prefix(entry.key.text());
    if (artifacts.empty()) {
      continue;  // dropped since it was listed
    }
    Difference difference;
    if (artifacts.front().spec == request.spec) {
      difference = {ours.size(), "compiler", "", entry.compiler.text()};
      if (auto installed = state.installed_compiler()) {
        difference.ours = installed->text();
      }
    } else {
      difference = first_difference(ours, fields_of(artifacts.front().spec));
    }
    if (!nearest || difference.equal_fields > nearest->equal_fields) {
      nearest = difference;
      explanation.nearest = entry;
    }
  }
  if (nearest) {
    explanation.field = nearest->field;
    explanation.ours = nearest->ours;
    explanation.theirs = nearest->theirs;
  }
  return explanation;
}

}  // namespace kiln
