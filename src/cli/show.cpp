#include <unistd.h>

#include <optional>

#include "cli/common.hpp"
#include "cli/entry.hpp"
#include "cli/human.hpp"
#include "cli/key_prefix.hpp"
#include "cli/output_place.hpp"
#include "kiln/spec.hpp"

namespace kiln::cli {

namespace {

struct Arguments {
  Common common;
  std::string key;
  bool spec = false;
  bool source = false;
  bool ptx = false;
  bool log = false;
  bool cubin = false;
  std::string output;
};

std::string as_section(std::string_view name, const std::string& text) {
  return "// ---- " + std::string(name) + "\n" + text + (text.ends_with('\n') ? "" : "\n");
}

/// The source as the spec holds it: the values as the literals they became, the template, the headers it can reach.
std::string source_of(const Artifact& artifact) {
  constexpr std::string_view k_value = "value ";
  constexpr std::string_view k_header = "header ";
  std::string values;
  std::string source;
  std::string headers;
  for (const auto& [label, content] : spec_fields(artifact.spec)) {
    if (label.starts_with(k_value)) {
      values += label.substr(k_value.size()) + " = " + content + "\n";
    } else if (label.starts_with(k_header)) {
      headers += as_section(label.substr(k_header.size()), content);
    } else if (label == "source") {
      source = as_section(artifact.template_name, content);
    }
  }
  if (source.empty()) {
    throw std::runtime_error("the spec of " + artifact.key.text() + " holds no source: the row is damaged");
  }
  return (values.empty() ? "" : as_section("values", values)) + source + headers;
}

std::string image_of(const Artifact& artifact) {
  return {reinterpret_cast<const char*>(artifact.image.data()), artifact.image.size()};
}

std::string part_of(const Arguments& arguments, const Artifact& artifact) {
  if (arguments.spec) {
    return artifact.spec;
  }
  if (arguments.source) {
    return source_of(artifact);
  }
  if (arguments.log) {
    return artifact.log;
  }
  if (arguments.cubin) {
    if (artifact.kind != ImageKind::cubin) {
      throw std::runtime_error("key " + artifact.key.text() + " is PTX for " + artifact.target.text() + ": use --ptx");
    }
    return image_of(artifact);
  }
  std::string ptx = artifact.kind == ImageKind::ptx ? image_of(artifact) : artifact.ptx;
  if (ptx.empty()) {
    throw std::runtime_error("key " + artifact.key.text() + " has no PTX beside its cubin");
  }
  return ptx;
}

Json to_json(const EntryPoint& entry) {
  return {{"expression", entry.expression},   {"lowered", entry.lowered},           {"registers", entry.registers},
          {"spill_bytes", entry.spill_bytes}, {"shared_bytes", entry.shared_bytes}, {"local_bytes", entry.local_bytes}};
}

Json to_json(const Artifact& artifact) {
  Json entries = Json::array();
  for (const EntryPoint& entry : artifact.entries) {
    entries.push_back(to_json(entry));
  }
  Json fields = Json::array();
  for (const auto& [label, content] : spec_fields(artifact.spec)) {
    fields.push_back({{"label", label}, {"content", content}});
  }
  return {{"key", artifact.key.text()},
          {"template", artifact.template_name},
          {"target", artifact.target.text()},
          {"kind", name_of(artifact.kind)},
          {"compiler", artifact.compiler.text()},
          {"image_bytes", artifact.image.size()},
          {"ptx_bytes", artifact.ptx.size()},
          {"compile_ms", artifact.compile_ms},
          {"created", artifact.created},
          {"entries", std::move(entries)},
          {"log", artifact.log},
          {"spec", std::move(fields)}};
}

void print(const Artifact& artifact, Output& out) {
  out.line("key       " + artifact.key.text());
  out.line("template  " + artifact.template_name);
  out.line("target    " + artifact.target.text());
  out.line("compiler  " + artifact.compiler.text() + ", " + human_ms(artifact.compile_ms) + ", on " +
           human_date(artifact.created));
  out.line("image     " + std::string(name_of(artifact.kind)) + ", " + human_bytes(artifact.image.size()));
  for (const EntryPoint& entry : artifact.entries) {
    out.line("entry     " + entry.expression + " as " + entry.lowered + ": " + std::to_string(entry.registers) +
             " registers, " + std::to_string(entry.spill_bytes) + " bytes spilled, " +
             std::to_string(entry.shared_bytes) + " bytes shared");
  }
  for (const auto& [label, content] : spec_fields(artifact.spec)) {
    bool is_short = content.size() <= 60 && content.find('\n') == std::string::npos;
    out.line("spec      " + label + ": " + (is_short ? content : human_bytes(content.size())));
  }
  out.line("log       " + (artifact.log.empty() ? "empty" : human_bytes(artifact.log.size())));
}

ExitCode run(const Arguments& arguments, Output& out) {
  bool part = arguments.spec || arguments.source || arguments.ptx || arguments.log || arguments.cubin;
  if (part && arguments.common.json) {
    throw UsageError("--json shows the whole entry; a part of it is written as it is");
  }
  if (!part && !arguments.output.empty()) {
    throw UsageError("-o: say what to write with --spec, --source, --ptx, --log or --cubin");
  }
  if (arguments.cubin && arguments.output.empty() && is_terminal(STDOUT_FILENO)) {
    throw UsageError("a cubin is not for a terminal: give -o FILE");
  }
  if (!arguments.output.empty() && arguments.output != "-") {
    require_free_place(arguments.output, plain_options(arguments.common));
  }
  std::optional<Artifact> artifact = Service(cache_options(arguments.common, Layers::all)).show(arguments.key);
  if (!artifact) {
    throw std::runtime_error("no cached kernel has a key that begins with " + arguments.key +
                             ": `kiln query` lists them");
  }
  if (part) {
    write_file(out, arguments.output.empty() ? "-" : arguments.output, part_of(arguments, *artifact));
  } else if (arguments.common.json) {
    print_json(out, to_json(*artifact));
  } else {
    print(*artifact, out);
  }
  return k_done;
}

}  // namespace

void add_show(CLI::App& app, Command& chosen) {
  auto [syntax, arguments] =
      add_command<Arguments>(app, chosen, "show", "Show one cached kernel, whole or a part of it",
                             "  kiln show 3f2a91\n"
                             "  kiln show 3f2a91 --ptx\n"
                             "  kiln show 3f2a91 --cubin -o kernel.cubin\n",
                             run);
  syntax.required("key", arguments->key, "KEY", "The first hex digits of its key")
      .flag("--spec", arguments->spec, "Everything that went into the key, field by field")
      .flag("--source", arguments->source, "The values, the template and its headers")
      .flag("--ptx", arguments->ptx, "The PTX")
      .flag("--log", arguments->log, "The compiler's log")
      .flag("--cubin", arguments->cubin, "The image")
      .exclusive({"--spec", "--source", "--ptx", "--log", "--cubin"})
      .text("-o", arguments->output, "FILE", "File to write instead of standard output, which is -")
      .check("key", check_key_prefix)
      .output("-o");
}

}  // namespace kiln::cli
