#include <iostream>

#include "cli/common.hpp"
#include "cli/human.hpp"
#include "cli/json_line.hpp"

namespace kiln::cli {

namespace {

struct Arguments {
  Common common;
};

/// Of the user cache; the packs' are in `layers`.
const LayerStats* user_layer(const Stats& stats) {
  for (const LayerStats& layer : stats.layers) {
    if (layer.name == "user") {
      return &layer;
    }
  }
  return nullptr;
}

Json to_json(const LayerStats& layer) {
  return {{"name", layer.name},       {"path", layer.path.string()}, {"entries", layer.entries},
          {"bytes", layer.bytes},     {"tunings", layer.tunings},    {"degraded", layer.degraded},
          {"trouble", layer.trouble}, {"journal", layer.journal},    {"open_us", layer.open_us},
          {"hit_us", layer.hit_us}};
}

Json to_json(const Stats& stats) {
  const LayerStats* user = user_layer(stats);
  Json layers = Json::array();
  for (const LayerStats& layer : stats.layers) {
    layers.push_back(to_json(layer));
  }
  return {{"entries", user != nullptr ? user->entries : 0},
          {"bytes", user != nullptr ? user->bytes : 0},
          {"max_bytes", stats.max_bytes},
          {"tunings", user != nullptr ? user->tunings : 0},
          {"hits", stats.totals.hits},
          {"misses", stats.totals.misses},
          {"compiles", stats.totals.compiles},
          {"compile_failures", stats.totals.compile_failures},
          {"puts", stats.totals.puts},
          {"puts_lost", stats.totals.puts_lost},
          {"corrupt_dropped", stats.totals.corrupt_dropped},
          {"evicted", stats.totals.evicted},
          {"degraded", stats.totals.degraded},
          {"lease_waits", stats.totals.lease_waits},
          {"lease_timeouts", stats.totals.lease_timeouts},
          {"warning", stats.warning},
          {"layers", std::move(layers)}};
}

void print(const Stats& stats, Output& out) {
  for (const LayerStats& layer : stats.layers) {
    std::string line = layer.name + ": " + human_count(layer.entries, "kernel") + ", " + human_bytes(layer.bytes);
    if (layer.name == "user") {
      line += " of " + (stats.max_bytes == 0 ? "any size" : human_bytes(stats.max_bytes));
    }
    if (layer.tunings > 0) {
      line += ", " + human_count(layer.tunings, "measured choice");
    }
    if (layer.open_us > 0.0) {
      line += ", opened in " + human_ms(layer.open_us / 1000.0);
    }
    out.line(line + ", " + layer.path.string());
    if (layer.degraded) {
      out.line("  left out: " + layer.trouble);
    }
  }
  const Totals& totals = stats.totals;
  out.line("hits " + std::to_string(totals.hits) + ", misses " + std::to_string(totals.misses) + ", compiles " +
           std::to_string(totals.compiles) + ", failed compiles " + std::to_string(totals.compile_failures));
  out.line("written " + std::to_string(totals.puts) + ", lost " + std::to_string(totals.puts_lost) +
           ", dropped as damaged " + std::to_string(totals.corrupt_dropped) + ", evicted " +
           std::to_string(totals.evicted) + ", times left out " + std::to_string(totals.degraded));
  if (!stats.warning.empty()) {
    out.line("warning: " + stats.warning);
  }
}

ExitCode run(const Arguments& arguments, Output& out) {
  Stats stats = Service(cache_options(arguments.common, Layers::all)).stats();
  if (arguments.common.json) {
    print_json(out, to_json(stats));
  } else {
    print(stats, out);
  }
  if (stats.degraded == 0) {
    return k_done;
  }
  out.flush();
  std::cerr << "kiln: " + human_count(stats.degraded, "layer") + " left out: see " +
                   (arguments.common.json ? "\"trouble\"" : "above") + ", or `kiln doctor`\n";
  return k_failed;
}

}  // namespace

void add_stats(CLI::App& app, Command& chosen) {
  add_command<Arguments>(app, chosen, "stats", "Show the cache's size and counters, layer by layer",
                         "  kiln stats\n  kiln stats --json\n", run);
}

}  // namespace kiln::cli
