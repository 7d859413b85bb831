#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "kiln/export.h"

namespace kiln {

/// What a kernel is compiled for: a real architecture ("sm_90", "sm_90a", "sm_100f": a cubin), a virtual one
/// ("compute_90": PTX), or "native": the device of the calling thread's current context when the request is
/// made. A plain value; any thread may use it.
class KILN_EXPORT Target {
 public:
  enum class Kind { native, cubin, ptx };

  /// The current device, asked for at each request.
  Target() = default;
  static Target native() { return {}; }

  /// Throws `Error{unsupported_target}` naming `text` and the accepted forms when it is not well formed.
  static Target parse(std::string_view text);

  /// `capability` is major * 10 + minor, 10 to 999, e.g. 90; `suffix` is '\0', 'a' or 'f'. Else throws as `parse` does.
  static Target cubin(int capability, char suffix = '\0');
  static Target ptx(int capability, char suffix = '\0');

  Kind kind() const noexcept { return kind_; }
  bool is_native() const noexcept { return kind_ == Kind::native; }
  /// major * 10 + minor; 0 for native.
  int capability() const noexcept { return capability_; }
  char suffix() const noexcept { return suffix_; }
  /// "sm_90a", "compute_90" or "native": the same text `parse` takes.
  std::string text() const;

  friend auto operator<=>(const Target&, const Target&) = default;

 private:
  Kind kind_ = Kind::native;
  int capability_ = 0;
  char suffix_ = '\0';
};

}  // namespace kiln
