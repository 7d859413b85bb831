#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kiln/export.h"
#include "kiln/target.hpp"

namespace kiln {

/// XXH3-128 of a spec. Two requests with the same key are the same request only if their specs are equal too;
/// the cache compares both.
struct KILN_EXPORT Key {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  /// 32 lower-case hex digits.
  std::string text() const;
  friend auto operator<=>(const Key&, const Key&) = default;
};

enum class ImageKind { cubin, ptx };

/// One kernel of an artifact.
struct EntryPoint {
  std::string expression;         ///< as requested: "scale<float>"
  std::string lowered;            ///< the symbol in the image, as NVRTC told it
  int registers = 0;              ///< per thread; 0 for PTX, where only the driver knows
  std::int64_t spill_bytes = 0;   ///< spill stores + spill loads, per thread
  std::int64_t shared_bytes = 0;  ///< static shared memory, per block
  std::int64_t local_bytes = 0;   ///< stack frame, per thread
  friend bool operator==(const EntryPoint&, const EntryPoint&) = default;
};

/// What compiled an image, e.g. "nvrtc 13.0.88". Part of a row's identity, beside the key.
struct KILN_EXPORT Compiler {
  int major = 0;
  int minor = 0;
  int build = 0;
  std::string text() const;
  friend auto operator<=>(const Compiler&, const Compiler&) = default;
};

/// A compiled kernel and everything known about it: one row of the cache. A plain value.
struct Artifact {
  Key key;
  std::string spec;  ///< the text whose hash is the key
  std::string template_name;
  Target target;  ///< never native
  Compiler compiler;
  ImageKind kind = ImageKind::cubin;
  std::vector<std::byte> image;
  std::string ptx;  ///< for reading, and for a GPU the cubin cannot run on; empty if the compiler gave none
  std::vector<EntryPoint> entries;
  std::string log;  ///< the compiler's warnings; often empty
  double compile_ms = 0.0;
  std::int64_t created = 0;  ///< seconds since the epoch
};

}  // namespace kiln
