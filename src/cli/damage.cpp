#include "cli/damage.hpp"

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

}  // namespace kiln::cli
