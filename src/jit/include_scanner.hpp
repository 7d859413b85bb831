#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace kiln::jit {

/// What stands between "" or <>.
struct HeaderName {
  std::string_view text;  ///< without the delimiters
  bool is_quoted = false;
  friend bool operator==(const HeaderName&, const HeaderName&) = default;
};

/// One place in a file that names a header, or a macro that may stand for one. Offsets are bytes of the scanned text.
struct Mention {
  enum class Kind {
    include,       ///< #include "x" or <x>
    include_next,  ///< #include_next
    has_include,   ///< __has_include("x") or <x>, written out
    argument,      ///< "x" or <x> in the argument list of some macro in #if: may be meant for __has_include
    macro,         ///< #include NAME or NAME(…); `header.text` is the name
    macro_test,    ///< __has_include(NAME …
    unclear,       ///< an #include, or a directive broken by a line's end, that cannot be told what it means
  };
  Kind kind = Kind::include;
  HeaderName header;
  std::string_view arguments;  ///< of a function-like macro, else empty
  std::string_view whole;      ///< of a macro or macro_test: from its name to the directive's end
  std::size_t begin = 0;       ///< what to write anew: from the directive's word (or from `__has_include`) …
  std::size_t end = 0;         ///< … to behind the header's closing delimiter or parenthesis
  int line = 0;                ///< counted from 1
};

/// A macro whose whole body is a header name, or the name of another macro.
struct HeaderMacro {
  std::string_view name;
  HeaderName header;       ///< text empty when the body is a name
  std::string_view alias;  ///< the other macro's name, or empty
  std::size_t begin = 0;   ///< the body
  std::size_t end = 0;
};

/// Any macro.
struct MacroDefinition {
  std::string_view name;
  std::string_view body;        ///< as written, with comments and line continuations
  std::string_view parameters;  ///< of a function-like macro: "(a, b)", else empty
};

struct Scan {
  std::vector<Mention> mentions;
  std::vector<HeaderMacro> macros;
  std::vector<MacroDefinition> definitions;
};

/// Finds every mention of a header, in active and inactive branches alike, by the rules of C++: not in comments,
/// strings or raw strings; across line continuations. Pure. The result views `text`.
Scan scan_includes(std::string_view text);

}  // namespace kiln::jit
