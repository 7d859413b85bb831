#include "cli/damage.hpp"

#include <algorithm>
#include <iostream>

#include "cli/human.hpp"

namespace kiln::cli {

Json to_json(const std::vector<Damage>& damage) {
  Json list = Json::array();
  for (const Damage& one : damage) {
    list.push_back({{"layer", one.layer},
                    {"path", one.path.string()},
                    {"key", one.key ? Json(one.key->text()) : Json(nullptr)},
                    {"problem", one.problem},
                    {"repaired", one.repaired}});
  }
  return list;
}

void print(const std::vector<Damage>& damage, Output& out) {
  for (const Damage& one : damage) {
    out.line(one.layer + ": " + (one.key ? one.key->text() + ": " : "") + one.problem +
             (one.repaired ? " (repaired)" : "") + ", " + one.path.string());
  }
}

bool is_left(const std::vector<Damage>& damage, Output& out, const std::string& remedy) {
  const auto left = static_cast<std::uint64_t>(std::ranges::count(damage, false, &Damage::repaired));
  if (left > 0) {
    out.flush();  // what it sums up comes first
    std::cerr << "kiln: " + human_count(left, "damaged part") + " found: " + remedy + "\n";
  }
  return left > 0;
}

}  // namespace kiln::cli
