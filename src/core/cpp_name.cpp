#include "core/cpp_name.hpp"

#include <algorithm>
#include <array>

namespace kiln::core {

namespace {

constexpr auto k_words = std::to_array<std::string_view>(
    {"alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
     "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
     "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
     "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
     "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
     "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
     "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
     "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
     "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
     "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
     "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
     "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
     "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
     "xor_eq"});

// Without CUDA's, which have a prefix. GNU's dialect of C++ has typeof, and calls its system linux and unix.
constexpr auto k_macros =
    std::to_array<std::string_view>({"NOMINMAX", "NULL", "STD", "THROWBADALLOC", "alloca", "assert", "linux", "typeof",
                                     "unix", "va_arg", "va_copy", "va_end", "va_start"});
constexpr auto k_macro_prefixes = std::to_array<std::string_view>({"CUDA", "CU_", "KILN_", "NV_"});

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_in_name(char c) { return is_upper(c) || is_digit(c) || (c >= 'a' && c <= 'z') || c == '_'; }

bool has(const auto& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

bool is_reserved(std::string_view name) {
  return name.find("__") != std::string_view::npos || (name.size() > 1 && name[0] == '_' && is_upper(name[1]));
}

/// cudaArrayDefault and the like.
bool is_of_the_runtime(std::string_view name) {
  constexpr std::string_view k_prefix = "cuda";
  return name.size() > k_prefix.size() && name.starts_with(k_prefix) && is_upper(name[k_prefix.size()]);
}

bool may_be_macro(std::string_view name) {
  return has(k_macros, name) || is_of_the_runtime(name) ||
         std::ranges::any_of(k_macro_prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

std::string problem_of_name(std::string_view name) {
  if (name.empty() || is_digit(name.front()) || !std::ranges::all_of(name, is_in_name)) {
    return "is no name in C++, which has letters, digits and '_', and no digit in front";
  }
  if (has(k_words, name)) {
    return "is a word of C++";
  }
  if (is_reserved(name)) {
    return "is reserved for compilers, as all with two '_' in a row, or a '_' and a capital letter in front,";
  }
  return may_be_macro(name) ? "may be a macro or a word of some compilers" : "";
}

}  // namespace kiln::core
