#include <iostream>
#include <map>
#include <optional>

#include "cli/common.hpp"
#include "cli/entry.hpp"
#include "cli/key_prefix.hpp"

namespace kiln::cli {

namespace {

struct Arguments {
  Common common;
  std::string template_name;
  std::string target;
  std::string key;
  std::string sort = "last_used";
  std::optional<std::uint64_t> limit;
};

const std::map<std::string, QueryOrder>& orders() {
  static const std::map<std::string, QueryOrder> k_orders{{"last_used", QueryOrder::last_used},
                                                          {"created", QueryOrder::created},
                                                          {"template", QueryOrder::template_name},
                                                          {"target", QueryOrder::target},
                                                          {"image_bytes", QueryOrder::image_bytes},
                                                          {"compile_ms", QueryOrder::compile_ms},
                                                          {"key", QueryOrder::key}};
  return k_orders;
}

ExitCode run(const Arguments& arguments, Output& out) {
  Query query;
  if (!arguments.template_name.empty()) {
    query.template_name = arguments.template_name;
  }
  if (!arguments.target.empty()) {
    query.target = parse_named_target(arguments.target);
  }
  query.key_prefix = arguments.key;
  query.order = orders().at(arguments.sort);
  query.limit = arguments.limit.value_or(0);
  EntryPrinter printer(out, arguments.common.json);
  Service(cache_options(arguments.common, Layers::all)).query(query, [&](const Entry& entry) {
    printer.add(entry);
    return true;
  });
  printer.finish();
  if (printer.count() == 0 && !arguments.common.json) {
    std::cerr << "no kernel in the cache matches\n";
  }
  return k_done;
}

}  // namespace

void add_query(CLI::App& app, Command& chosen) {
  auto [syntax, arguments] =
      add_command<Arguments>(app, chosen, "query", "List cached kernels, of packs and of the user cache",
                             "  kiln query --template scale.cu --sort image_bytes --limit 10\n"
                             "  kiln query --target sm_90a --json\n",
                             run);
  std::vector<std::string> columns;
  for (const auto& [column, order] : orders()) {
    columns.push_back(column);
  }
  syntax.text("--template", arguments->template_name, "NAME", "Only of this template")
      .text("--target", arguments->target, "T", "Only for this target")
      .text("--key", arguments->key, "PREFIX", "Only keys that begin with these hex digits")
      .choice("--sort", arguments->sort, columns, "Newest or largest first; names and keys ascending")
      .number("--limit", arguments->limit, "N", "At most so many; 0, the default: all")
      .check("--target", parse_named_target)
      .check("--key", check_key_prefix);
}

}  // namespace kiln::cli
