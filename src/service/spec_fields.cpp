#include "cache/spec.hpp"
#include "kiln/spec.hpp"

namespace kiln {

std::vector<std::pair<std::string, std::string>> spec_fields(std::string_view spec) {
  std::vector<std::pair<std::string, std::string>> fields;
  for (const cache::SpecField& field : cache::parse_spec(spec)) {
    fields.emplace_back(field.label, field.content);
  }
  return fields;
}

}  // namespace kiln
