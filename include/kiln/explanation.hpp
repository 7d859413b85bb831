#pragma once

#include <optional>
#include <string>

#include "kiln/entry.hpp"

namespace kiln {

/// Why a request hits or misses.
struct Explanation {
  Key key;
  bool hit = false;
  std::string layer;             ///< that has it, on a hit
  std::optional<Entry> nearest;  ///< on a miss: the entry that differs latest in the spec, if there is any
  /// On a miss: the first field that differs from `nearest`: "source", "value NAME", "header NAME", "option",
  /// "entry", "target", "compiler", "format".
  std::string field;
  std::string ours;    ///< the field's value in the request, shortened to 200 characters
  std::string theirs;  ///< and in the nearest entry
  /// On a miss: why the request cannot be compiled here (strict mode, no compiler, a target it does not know); empty
  /// when it can.
  std::string obstacle;
};

}  // namespace kiln
