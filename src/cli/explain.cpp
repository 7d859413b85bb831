#include <array>
#include <cstdio>

#include "cli/entry.hpp"
#include "cli/request.hpp"
#include "cli/target_choice.hpp"

namespace kiln::cli {

namespace {

struct PermuteQuestion {
  Common common;
  PermuteArguments request;
};

struct CompileQuestion {
  Common common;
  CompileArguments request;
};

std::string in_words(const Explanation& explanation) {
  if (explanation.hit) {
    return "would hit in layer " + explanation.layer;
  }
  if (!explanation.nearest) {
    return "would miss: no layer has anything of this template";
  }
  return "would miss: the nearest entry, " + explanation.nearest->key.text() + " in layer " +
         explanation.nearest->layer + ", differs first in " + explanation.field +
         "\n            here:  " + explanation.ours + "\n            there: " + explanation.theirs;
}

std::string two_decimals(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", value);
  return text.data();
}

/// "staged 0.98 of a copy's speed (memory traffic), direct 0.32 (memory traffic)"
std::string expected(const std::vector<PermuteCandidate>& candidates) {
  std::string text;
  for (const PermuteCandidate& candidate : candidates) {
    if (candidate.speed > 0) {
      text += (text.empty() ? "" : ", ") + std::string(strategy_name(candidate.strategy)) + " " +
              two_decimals(candidate.speed) + (text.empty() ? " of a copy's speed" : "") + " (" + candidate.note + ")";
    }
  }
  return text;
}

void print_choice(const PermuteRequest& request, Output& out) {
  out.line("            " + request.reason);
  out.line("            expected: " + (request.candidates.empty() ? "not reckoned for the strategies rows and elements"
                                                                  : expected(request.candidates)));
  for (const PermuteCandidate& candidate : request.candidates) {
    if (candidate.speed == 0) {
      out.line("            not " + std::string(strategy_name(candidate.strategy)) + ": " + candidate.note);
    }
  }
}

Json list_of(const std::vector<PermuteCandidate>& candidates) {
  Json list = Json::array();
  for (const PermuteCandidate& candidate : candidates) {
    const bool can = candidate.speed > 0;
    list.push_back({{"strategy", strategy_name(candidate.strategy)},
                    {"speed", can ? Json(candidate.speed) : Json(nullptr)},
                    {"limit", can ? Json(candidate.note) : Json(nullptr)},
                    {"problem", can ? Json(nullptr) : Json(candidate.note)}});
  }
  return list;
}

/// `request`: what a permutation came to; else null.
void explain(const Common& common, const Service& service, const Template& tmpl, const Values& values,
             const Target& target, const PermuteRequest* request, Output& out) {
  Explanation explanation = service.explain(tmpl, values, target);
  if (!common.json) {
    out.line(target.text() + "  " + explanation.key.text() + "  " + in_words(explanation));
    if (request != nullptr) {
      print_choice(*request, out);
    }
    if (!explanation.obstacle.empty()) {
      out.line("            cannot be compiled here: " + explanation.obstacle);
    }
    return;
  }
  Json json = to_json(service.find(tmpl, values, target), explanation.key, target);
  json["hit"] = explanation.hit;
  json["layer"] = explanation.hit ? Json(explanation.layer) : Json(nullptr);
  json["nearest"] = explanation.nearest ? to_json(*explanation.nearest) : Json(nullptr);
  bool differs = !explanation.hit && explanation.nearest;
  json["field"] = differs ? Json(explanation.field) : Json(nullptr);
  json["ours"] = differs ? Json(explanation.ours) : Json(nullptr);
  json["theirs"] = differs ? Json(explanation.theirs) : Json(nullptr);
  json["obstacle"] = explanation.obstacle.empty() ? Json(nullptr) : Json(explanation.obstacle);
  if (request != nullptr) {
    json["strategy"] = request->strategy;
    json["choice"] = request->reason;
    json["candidates"] = list_of(request->candidates);
  }
  print_json(out, json);
}

ExitCode run_permute(const PermuteQuestion& question, Output& out) {
  PermuteShape shape = read_shape(question.request);
  std::vector<Target> targets = choose_targets(question.request.targets);
  IndexMap map = read_map(question.request);
  Service service(cache_options(question.common, Layers::all));
  for (const Target& target : targets) {
    PermuteRequest request = plan(map, shape, target);
    explain(question.common, service, request.tmpl, request.values, target, &request, out);
  }
  return k_done;
}

ExitCode run_compile(const CompileQuestion& question, Output& out) {
  std::vector<Target> targets = choose_targets(question.request.targets);
  Template tmpl = read_template(question.request);
  Values values = read_values(tmpl, question.request.definitions);
  Service service(cache_options(question.common, Layers::all));
  for (const Target& target : targets) {
    explain(question.common, service, tmpl, values, target, nullptr, out);
  }
  return k_done;
}

}  // namespace

void add_explain(CLI::App& app, Command& chosen) {
  CLI::App& group = add_group(
      app, "explain",
      "Say whether a request would hit, and where; if not, the first field that differs from the nearest entry",
      "  kiln explain permute --indices 2,1,0 --target sm_90\n"
      "  kiln explain compile scale.cu -D n=36 --target sm_90\n");
  auto [permute, map] =
      add_command<PermuteQuestion>(group, chosen, "permute", "Explain what `kiln permute` would ask for",
                                   "  kiln explain permute --indices 2,1,0 --target sm_90\n", run_permute);
  add_permute_arguments(permute, map->request);
  auto [compile, file] =
      add_command<CompileQuestion>(group, chosen, "compile", "Explain what `kiln compile` would ask for",
                                   "  kiln explain compile scale.cu -D n=36 --target sm_90\n", run_compile);
  add_compile_arguments(compile, file->request);
}

}  // namespace kiln::cli
