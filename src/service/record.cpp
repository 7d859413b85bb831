#include "service/record.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "kiln/file_trouble.hpp"
#include "kiln/quote.hpp"
#include "service/plan_update.hpp"

namespace kiln::service {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(double value) {
  // JSON has no word for these; the plan reader takes texts instead.
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value > 0.0 ? "inf" : "-inf";
  }
  return value;
}

Json to_json(const Value& value) {
  return std::visit(
      [](const auto& held) -> Json {
        using T = std::remove_cvref_t<decltype(held)>;
        if constexpr (std::is_same_v<T, TypeName> || std::is_same_v<T, Code>) {
          return held.text;
        } else if constexpr (std::is_same_v<T, double>) {
          return to_json(held);
        } else if constexpr (std::is_same_v<T, std::vector<double>>) {
          Json list = Json::array();
          for (double element : held) {
            list.push_back(to_json(element));
          }
          return list;
        } else {
          return held;
        }
      },
      value.storage());
}

/// The template whole, so that the plan needs none of the files it came from.
Json to_json(const Template& tmpl) {
  Json headers = Json::object();
  for (const Header& header : tmpl.headers()) {
    headers[header.name] = header.text;
  }
  return {{"name", tmpl.name()},
          {"text", tmpl.text()},
          {"headers", std::move(headers)},
          {"options", tmpl.options()},
          {"entries", tmpl.entries()}};
}

/// The name in `templates` under which `tmpl` stands or will stand: its own, or NAME#2, … where that is another's.
std::string template_id(Json& templates, const std::string& name, const Json& tmpl) {
  std::string id = name;
  for (int number = 2; templates.contains(id) && templates[id] != tmpl; ++number) {
    id = name + "#" + std::to_string(number);
  }
  return id;
}

}  // namespace

Recorder::Recorder(std::filesystem::path file, LogCallback log) : file_(std::move(file)), log_(std::move(log)) {}

void Recorder::add(const Template& tmpl, const Values& values, const Target& target) noexcept {
  std::lock_guard lock(mutex_);
  if (!active_) {
    return;
  }
  try {
    Json given = Json::object();
    for (const auto& [name, value] : values) {
      given[name] = to_json(value);
    }
    Json written = to_json(tmpl);
    if (!recorded_.insert(written.dump() + given.dump() + target.text()).second) {
      return;
    }
    update_plan(file_, [&](Json& plan) {
      std::string id = template_id(plan["templates"], tmpl.name(), written);
      Json kernel{{"template", id}, {"values", std::move(given)}, {"targets", {target.text()}}};
      Json& kernels = plan["kernels"];
      if (std::find(kernels.begin(), kernels.end(), kernel) != kernels.end()) {
        return false;  // by another process, or an earlier one
      }
      plan["templates"][id] = std::move(written);
      kernels.push_back(std::move(kernel));
      return true;
    });
  } catch (const Json::type_error&) {
    give_up("the request for template " + quote(tmpl.name()) +
            " holds text that is no UTF-8, which a plan cannot hold; save its files as UTF-8");
  } catch (const std::exception& error) {
    give_up(error.what());
  }
}

void Recorder::give_up(const std::string& why) noexcept {
  active_ = false;
  if (log_) {
    log_(LogLevel::warning, "requests are no longer recorded to " + quote_path(file_) + ": " + why);
  }
}

}  // namespace kiln::service
