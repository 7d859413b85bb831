#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.h"
#include "kiln/value.hpp"

namespace kiln {

/// Scalar types a parameter can have. `type` is a C++ type name, `code` a snippet.
enum class ParameterType { boolean, character, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, type, code };

/// One declared parameter of a template.
struct Parameter {
  std::string name;
  ParameterType type = ParameterType::i32;
  bool is_list = false;
  std::optional<std::size_t> length;    ///< of a list; absent: any length of at least 1
  std::optional<std::string> fallback;  ///< text of the default value, when one is declared
  int line = 0;                         ///< where it is declared, counted from 1
};

/// One header as NVRTC is given it: the name that an include directive finds it by, and its content.
struct Header {
  std::string name;
  std::string text;
  friend bool operator==(const Header&, const Header&) = default;
};

struct TemplateOptions {
  /// Searched, in order, for headers the template includes. Each must be a folder that is there. Read once, when the
  /// template is made. An #include names its header itself or is a macro that is such a name: one whose name is
  /// computed so that it could be absolute is a TemplateError, since the compiler would read a file that no key covers.
  std::vector<std::filesystem::path> include_dirs{};
  /// Headers in memory, by include name; they win over `include_dirs`.
  std::map<std::string, std::string> headers{};
  /// Further NVRTC options, e.g. "--use_fast_math", "-DWIDTH=4". Include paths are refused: see `include_dirs`.
  std::vector<std::string> options{};
  /// Kernels to make launchable, as C++ name expressions ("scale", "ns::scale<float, 4>"). Empty: those the
  /// template declares.
  std::vector<std::string> entries{};
};

/// A CUDA C++ file with declared, typed parameters. Immutable, cheap to copy, safe to use from any thread.
///
/// The declarations are comment lines, one parameter a line, so that the file stays CUDA C++:
///
///     // kiln: parameter n: u32
///     // kiln: parameter table: u16[36]      a list of exactly 36; `u16[]` for any length
///     // kiln: parameter element: type
///     // kiln: parameter ending: code = value
///     // kiln: entry scale<kiln::element>    one or more kernels, as C++ name expressions
///     #include "kiln/values.h"
///
/// Scalar types: bool char i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 type code. After `=` stands a default.
/// `kiln/values.h` is generated: `namespace kiln { inline constexpr unsigned int n = 36u; … using element = float; }`;
/// a list `table` comes with `table_length`; and for a code parameter there is the header `kiln/code/NAME.h` holding
/// the snippet, to be included where it belongs, as often as wanted.
///
/// Headers are found when the template is made: from then on the template is independent of the disk. Every header it
/// can reach counts, in active branches or not; one that is not found is an error of the compiler's, and only if its
/// branch is active. A header that only a value names (in a snippet, in a type) must be in memory: see
/// `TemplateOptions::headers`.
class KILN_EXPORT Template {
 public:
  /// `name` is what logs and queries call it; it must be a plain file name, not a path.
  /// Throws TemplateError for a malformed declaration (naming its line) or no entry at all.
  static Template from_text(std::string name, std::string text, TemplateOptions options = {});
  /// Named after the file's last component. Includes are also looked for beside the file.
  /// Throws Error{file_unreadable} naming the path.
  static Template from_file(const std::filesystem::path& path, TemplateOptions options = {});
  /// A template that ships inside the library. Throws Error{invalid_argument} listing the known names.
  static Template builtin(std::string_view name, TemplateOptions options = {});
  static std::vector<std::string> builtin_names();

  const std::string& name() const noexcept;
  /// As given, but for include directives that must name their header otherwise for a compiler that has no folders
  /// ("./a.h" beside "a.h"), and __has_include, which is answered when the template is made. Lines keep their numbers.
  const std::string& text() const noexcept;
  const std::vector<Parameter>& parameters() const noexcept;
  const std::vector<std::string>& entries() const noexcept;
  const std::vector<std::string>& options() const noexcept;
  /// Every header the template can reach, whatever the values, sorted by name. Not the generated ones.
  const std::vector<Header>& headers() const noexcept;
  /// Where those that are not in memory were looked for when the template was made, and what a __has_include names, up
  /// to where each was found: a file in any of these places may be a header. No key holds them.
  const std::vector<std::filesystem::path>& header_files() const noexcept;

  /// Reads a value for one parameter from text, as a command line or a plan gives it: 36, -1, 0x1p-3, inf, nan, true,
  /// 'c'; {1, 2, 3} or 1,2,3 for a list; a type or a snippet as it stands. Throws TemplateError naming what would fit.
  Value parse_value(std::string_view parameter, std::string_view text) const;

 private:
  struct State;
  explicit Template(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace kiln
