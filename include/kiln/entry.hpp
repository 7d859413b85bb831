#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kiln/artifact.hpp"

namespace kiln {

/// One cached kernel, without its bytes. Field names are the columns of the view `kernels` and the fields of
/// `kiln query --json`.
struct Entry {
  std::string layer;  ///< "user" or the pack's file name
  Key key;
  std::string template_name;
  Target target;
  ImageKind kind = ImageKind::cubin;
  Compiler compiler;
  std::string entry_names;  ///< comma-separated, as requested
  std::uint64_t image_bytes = 0;
  double compile_ms = 0.0;
  int registers = 0;             ///< the largest of its kernels
  std::int64_t spill_bytes = 0;  ///< the largest of its kernels
  std::int64_t created = 0;      ///< seconds since the epoch
  std::int64_t last_used = 0;    ///< seconds since the epoch, exact to a day
};

enum class QueryOrder { last_used, created, template_name, target, image_bytes, compile_ms, key };

struct Query {
  std::optional<std::string> template_name;
  std::optional<Target> target;
  std::string key_prefix;                    ///< hex digits
  QueryOrder order = QueryOrder::last_used;  ///< newest or largest first; names and keys ascending
  std::uint64_t limit = 0;                   ///< 0: all
};

}  // namespace kiln
