#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kiln::plan {

struct JsonMember;

/// A JSON value that knows the line it begins on, so that an error in what a plan says can name it.
struct JsonNode {
  using Array = std::vector<JsonNode>;
  using Object = std::vector<JsonMember>;  ///< in the file's order; names are unique

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> value;
  std::size_t line = 1;
};

struct JsonMember {
  std::string name;
  JsonNode node;
};

/// Integers below 2^63 are int64, others to 2^64 - 1 uint64, the rest double. Throws Error{invalid_argument} as
/// "ORIGIN:LINE: …" for malformed JSON, a name used twice in an object, or nesting beyond 64 levels.
JsonNode parse_json(std::string_view text, std::string_view origin);

}  // namespace kiln::plan
