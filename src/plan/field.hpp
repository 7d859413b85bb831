#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/error.hpp"
#include "plan/json_node.hpp"

namespace kiln::plan {

/// An error that names its place already.
class PlacedError : public Error {
 public:
  using Error::Error;
};

/// A value of a plan file together with its place. Every error it throws begins "FILE:LINE: kernels[3].values.n: ".
/// A view: the tree it looks into must outlive it.
class Field {
 public:
  Field(const JsonNode& node, std::string file, std::string path = {})
      : node_(&node), file_(std::move(file)), path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string& what, ErrorCode code = ErrorCode::invalid_argument) const;

  const JsonNode& node() const noexcept { return *node_; }
  /// "kernels[3].values.n"; empty for the whole file.
  const std::string& path() const noexcept { return path_; }
  bool is_text() const noexcept { return std::holds_alternative<std::string>(node_->value); }
  bool is_list() const noexcept { return std::holds_alternative<JsonNode::Array>(node_->value); }
  bool is_object() const noexcept { return std::holds_alternative<JsonNode::Object>(node_->value); }

  const std::string& text() const;
  bool truth() const;
  /// A whole number of at least `least`.
  std::uint64_t count(std::uint64_t least) const;
  std::vector<Field> list() const;
  /// The elements of a list that must have some; `what` names one of them.
  std::vector<Field> filled_list(std::string_view what) const;
  /// The elements of a list, or this one when it is not a list.
  std::vector<Field> one_or_more(std::string_view what) const;
  std::vector<std::string> texts() const;

  /// The members of an object.
  std::vector<std::pair<std::string, Field>> members() const;
  std::optional<Field> find(std::string_view name) const;
  Field need(std::string_view name) const;
  /// Fails, naming it and what is allowed, if the object has a member not among `allowed`.
  void allow(std::initializer_list<std::string_view> allowed) const;

 private:
  Field inside(const JsonNode& node, const std::string& step) const { return {node, file_, path_ + step}; }

  const JsonNode* node_;
  std::string file_;
  std::string path_;
};

/// What kind of JSON this is, for errors: "a list", "the text \"x\"", "the number 3".
std::string describe(const JsonNode& node);

/// Runs `make` and gives its errors the place of `field`, unless they have one.
template <typename Make>
auto at(const Field& field, Make make) {
  try {
    return make();
  } catch (const PlacedError&) {
    throw;
  } catch (const Error& error) {
    field.fail(error.what(), error.code());
  }
}

}  // namespace kiln::plan
