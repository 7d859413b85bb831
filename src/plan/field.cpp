#include "plan/field.hpp"
#include "kiln/quote.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kiln::plan {

std::string describe(const JsonNode& node) {
  struct Visitor {
    std::string operator()(std::nullptr_t) const { return "null"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return "the number " + std::to_string(value); }
    std::string operator()(std::uint64_t value) const { return "the number " + std::to_string(value); }
    std::string operator()(double value) const { return "the number " + nlohmann::json(value).dump(); }
    std::string operator()(const std::string& value) const { return "the text " + quote(value); }
    std::string operator()(const JsonNode::Array&) const { return "a list"; }
    std::string operator()(const JsonNode::Object&) const { return "an object"; }
  };
  return std::visit(Visitor{}, node.value);
}

void Field::fail(const std::string& what, ErrorCode code) const {
  std::string place = file_ + ":" + std::to_string(node_->line) + ": ";
  if (!path_.empty()) {
    place += one_line(path_) + ": ";
  }
  throw PlacedError(code, place + what);
}

const std::string& Field::text() const {
  if (!is_text()) {
    fail("a text is wanted, not " + describe(*node_));
  }
  return std::get<std::string>(node_->value);
}

bool Field::truth() const {
  if (const auto* value = std::get_if<bool>(&node_->value)) {
    return *value;
  }
  fail("true or false is wanted, not " + describe(*node_));
}

std::uint64_t Field::count(std::uint64_t least) const {
  if (const auto* small = std::get_if<std::int64_t>(&node_->value); small != nullptr && *small >= 0) {
    if (auto value = static_cast<std::uint64_t>(*small); value >= least) {
      return value;
    }
  } else if (const auto* large = std::get_if<std::uint64_t>(&node_->value)) {
    return *large;
  }
  fail("a whole number from " + std::to_string(least) + " is wanted, not " + describe(*node_));
}

std::vector<Field> Field::list() const {
  if (!is_list()) {
    fail("a list is wanted, not " + describe(*node_));
  }
  std::vector<Field> fields;
  for (const JsonNode& element : std::get<JsonNode::Array>(node_->value)) {
    fields.push_back(inside(element, "[" + std::to_string(fields.size()) + "]"));
  }
  return fields;
}

std::vector<Field> Field::filled_list(std::string_view what) const {
  std::vector<Field> fields = list();
  if (fields.empty()) {
    fail("the list is empty: at least one " + std::string(what) + " is wanted");
  }
  return fields;
}

std::vector<Field> Field::one_or_more(std::string_view what) const {
  return is_list() ? filled_list(what) : std::vector<Field>{*this};
}

std::vector<std::string> Field::texts() const {
  std::vector<std::string> texts;
  for (const Field& field : is_list() ? list() : std::vector<Field>{*this}) {
    texts.push_back(field.text());
  }
  return texts;
}

std::vector<std::pair<std::string, Field>> Field::members() const {
  if (!is_object()) {
    fail("an object is wanted, not " + describe(*node_));
  }
  std::vector<std::pair<std::string, Field>> fields;
  for (const JsonMember& member : std::get<JsonNode::Object>(node_->value)) {
    fields.emplace_back(member.name, inside(member.node, (path_.empty() ? "" : ".") + member.name));
  }
  return fields;
}

std::optional<Field> Field::find(std::string_view name) const {
  for (auto& [member, field] : members()) {
    if (member == name) {
      return field;
    }
  }
  return std::nullopt;
}

Field Field::need(std::string_view name) const {
  std::optional<Field> field = find(name);
  if (!field) {
    fail("\"" + std::string(name) + "\" is missing");
  }
  return *field;
}

void Field::allow(std::initializer_list<std::string_view> allowed) const {
  for (const auto& [name, field] : members()) {
    if (std::ranges::find(allowed, std::string_view(name)) == allowed.end()) {
      std::string known;
      for (std::string_view one : allowed) {
        known += (known.empty() ? "" : ", ") + std::string(one);
      }
      field.fail("unknown field; allowed here: " + known);
    }
  }
}

}  // namespace kiln::plan
