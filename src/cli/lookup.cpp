#include <algorithm>

#include "cli/entry.hpp"
#include "cli/human.hpp"
#include "cli/request.hpp"

namespace kiln::cli {

namespace {

/// Of the kernel that needs most.
struct Usage {
  int registers = 0;
  std::int64_t spill_bytes = 0;
};

Usage usage_of(const Artifact& artifact) {
  Usage usage;
  for (const EntryPoint& entry : artifact.entries) {
    usage.registers = std::max(usage.registers, entry.registers);
    usage.spill_bytes = std::max(usage.spill_bytes, entry.spill_bytes);
  }
  return usage;
}

}  // namespace

Json to_json(const Lookup& found, const Key& key, const Target& target) {
  Json json{{"key", key.text()}, {"target", target.text()}};
  if (!found.artifact) {
    for (const char* unknown :
         {"kind", "outcome", "image_bytes", "compile_ms", "lookup_us", "registers", "spill_bytes", "compiler"}) {
      json[unknown] = nullptr;
    }
    json["outcome"] = name_of(found.outcome);
    json["lookup_us"] = found.lookup_us;
    return json;
  }
  const Artifact& artifact = *found.artifact;
  Usage usage = usage_of(artifact);
  json["kind"] = name_of(artifact.kind);
  json["outcome"] = name_of(found.outcome);
  json["image_bytes"] = artifact.image.size();
  json["compile_ms"] = artifact.compile_ms;
  json["lookup_us"] = found.lookup_us;
  json["registers"] = usage.registers;
  json["spill_bytes"] = usage.spill_bytes;
  json["compiler"] = artifact.compiler.text();
  return json;
}

std::string to_line(const Lookup& found, const Target& target) {
  std::string line = target.text();
  line.resize(std::max<std::size_t>(line.size(), 11), ' ');
  if (!found.artifact) {
    return line + " " + name_of(found.outcome);
  }
  const Artifact& artifact = *found.artifact;
  line += found.outcome == Outcome::compiled ? " compiled in " + human_ms(artifact.compile_ms)
                                             : std::string(" from ") + name_of(found.outcome);
  line += std::string("  ") + name_of(artifact.kind) + " " + human_bytes(artifact.image.size());
  Usage usage = usage_of(artifact);
  if (artifact.kind == ImageKind::cubin) {
    line += "  " + std::to_string(usage.registers) + " registers";
  }
  if (usage.spill_bytes > 0) {
    line += "  " + std::to_string(usage.spill_bytes) + " bytes spilled";
  }
  return line + "  " + artifact.compiler.text() + "  " + artifact.key.text();
}

}  // namespace kiln::cli
