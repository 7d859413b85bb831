#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>

namespace kiln::service {

/// Changes the plan in `file`, through links, which is made if it is missing: `change` is given the plan and says
/// whether it changed it. Changes by several processes come one after another, and who reads the file sees it whole,
/// before or after one. Throws std::exception when the file cannot be locked within 5 s, read or written, or is not a
/// plan.
void update_plan(const std::filesystem::path& file, const std::function<bool(nlohmann::ordered_json&)>& change);

}  // namespace kiln::service
