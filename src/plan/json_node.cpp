#include "plan/json_node.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "kiln/error.hpp"
#include "kiln/quote.hpp"

namespace kiln::plan {

namespace {

constexpr std::size_t k_max_depth = 64;
constexpr std::size_t k_longest_reason = 200;

/// Feeds the parser one character at a time and counts how many it has taken: its events carry no position.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* position, const char** furthest) : position_(position), furthest_(furthest) {}
  reference operator*() const { return *position_; }
  CountingIterator& operator++() {
    *furthest_ = ++position_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.position_ == b.position_; }

 private:
  const char* position_;
  const char** furthest_;
};

/// Builds the tree from the parser's events.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(std::string_view text, std::string_view origin)
      : origin_(origin), begin_(text.data()), counted_(text.data()), furthest_(text.data()) {}

  const char** furthest() { return &furthest_; }
  JsonNode take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add_number(value); }
  bool number_unsigned(std::uint64_t value) override {
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return add_number(static_cast<std::int64_t>(value));
    }
    return add_number(value);
  }
  bool number_float(double value, const std::string& token) override {
    const std::string digits = token.substr(0, token.find_first_of("eE"));
    if (value == 0.0 && digits.find_first_of("123456789") != std::string::npos) {
      fail(line(1), "the number " + one_line(token) +
                        " is smaller than what a double holds, about 4.9e-324; give 0 if "
                        "that will do");
    }
    return add_number(value);
  }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(JsonNode::Object{}); }
  bool start_array(std::size_t) override { return open(JsonNode::Array{}); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    const auto& members = std::get<JsonNode::Object>(open_.back()->value);
    if (std::ranges::any_of(members, [&](const JsonMember& member) { return member.name == name; })) {
      fail(line(0), "the name " + quote(name) + " is used twice in one object");
    }
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string& token, const nlohmann::json::exception& error) override {
    if (dynamic_cast<const nlohmann::json::out_of_range*>(&error) != nullptr) {
      fail(line(1), "the number " + one_line(token) + " is beyond what a double holds, about 1.8e308 either way");
    }
    if (std::all_of(begin_, furthest_, [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; })) {
      fail(1, "not JSON: the file is empty");
    }
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while …": the line is ours.
    std::string_view text = error.what();
    if (std::size_t colon = text.find(": "); colon != std::string_view::npos) {
      text.remove_prefix(colon + 2);
    }
    fail(line(0), "not JSON: " + one_line(text, k_longest_reason));
  }

 private:
  [[noreturn]] void fail(std::size_t where, const std::string& what) const {
    throw Error(ErrorCode::invalid_argument, origin_ + ":" + std::to_string(where) + ": " + what);
  }

  /// The line of the token just read, of which `lookahead` characters more have been taken.
  std::size_t line(std::ptrdiff_t lookahead) {
    const char* end = std::max(counted_, furthest_ - lookahead);
    line_ += static_cast<std::size_t>(std::count(counted_, end, '\n'));
    counted_ = end;
    return line_;
  }

  // A number ends where something else begins, so the parser has read one character beyond it.
  template <typename T>
  bool add_number(T value) {
    place(JsonNode{value, line(1)});
    return true;
  }
  template <typename T>
  bool add(T value) {
    place(JsonNode{std::move(value), line(0)});
    return true;
  }
  template <typename T>
  bool open(T empty) {
    if (open_.size() == k_max_depth) {
      fail(line(0), "nested more than " + std::to_string(k_max_depth) + " levels deep");
    }
    open_.push_back(place(JsonNode{std::move(empty), line(0)}));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  // Only the innermost open container grows, so pointers to the open ones stay good.
  JsonNode* place(JsonNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return &root_;
    }
    if (auto* array = std::get_if<JsonNode::Array>(&open_.back()->value)) {
      return &array->emplace_back(std::move(node));
    }
    auto& members = std::get<JsonNode::Object>(open_.back()->value);
    return &members.emplace_back(JsonMember{std::move(key_), std::move(node)}).node;
  }

  std::string origin_;
  JsonNode root_;
  std::vector<JsonNode*> open_;
  std::string key_;
  const char* begin_;
  const char* counted_;   ///< line ends before this are in line_
  const char* furthest_;  ///< what the parser has taken
  std::size_t line_ = 1;
};

}  // namespace

JsonNode parse_json(std::string_view text, std::string_view origin) {
  TreeBuilder builder(text, origin);
  const char* end = text.data() + text.size();
  nlohmann::json::sax_parse(CountingIterator(text.data(), builder.furthest()),
                            CountingIterator(end, builder.furthest()), &builder);
  return builder.take();
}

}  // namespace kiln::plan
