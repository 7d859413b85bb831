#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/artifact.hpp"
#include "kiln/source.hpp"
#include "kiln/target.hpp"

namespace kiln::cache {

/// Raised when the meaning of a spec, a source or a row changes; old rows are then never hit.
inline constexpr int k_spec_format = 1;

/// The spec of a request: one labelled, length-prefixed field after another (docs/cache-format.md), so that no two
/// requests share a text. `arguments` are the compile arguments that can change the result, in order.
std::string make_spec(const Source& source, std::span<const std::string> arguments, const Target& target);

/// XXH3-128 of the spec.
Key key_of(std::string_view spec) noexcept;

struct SpecField {
  std::string_view label;  ///< "format", "template", "source", "value NAME", "header NAME", "option", "entry", "target"
  std::string_view content;
};

/// The fields, in order. Views into `spec`. Empty when `spec` is malformed: specs read from a database may be.
std::vector<SpecField> parse_spec(std::string_view spec);

}  // namespace kiln::cache
