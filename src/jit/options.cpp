#include "jit/options.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "jit/known_options.hpp"
#include "kiln/error.hpp"
#include "kiln/quote.hpp"

namespace kiln::jit {

namespace {

[[noreturn]] void refuse(std::string_view option, std::string_view remedy) {
  throw Error(ErrorCode::invalid_argument, "option " + quote(option) + " is reserved by Kiln: " + std::string(remedy));
}

/// One option of the caller's, taken apart.
struct Given {
  std::string_view name;  ///< with its dashes
  std::string_view value;
  bool has_value = false;
};

/// "-Xptxas=-v", "-D X", "-DX=1": a name ends at '=' or a blank, or, for -D and -U, after its letter.
Given take_apart(std::string_view text) {
  for (std::string_view letter : {"-D", "-U", "-I"}) {
    if (text.starts_with(letter) && text.size() > 2) {
      std::string_view value = text.substr(2);
      value.remove_prefix(value.front() == '=' || value.front() == ' ' ? 1 : 0);
      return {letter, value, true};
    }
  }
  std::size_t end = text.find_first_of("= ");
  if (end == std::string_view::npos) {
    return {text, {}, false};
  }
  return {text.substr(0, end), text.substr(end + 1), true};
}

/// ptxas may write files and make other kinds of output as well.
void check_ptxas(std::string_view option, std::string_view value) {
  for (std::string_view reserved :
       {"-o", "--output-file", "-c", "--compile-only", "-arch", "--gpu-name", "-lib", "--compile-as-tools-patch",
        "--options-file", "-optf", "--input-as-string", "-ias"}) {
    std::size_t at = value.find(reserved);
    bool starts_word = at == 0 || (at != std::string_view::npos && (value[at - 1] == ' ' || value[at - 1] == ','));
    std::string_view rest = at == std::string_view::npos ? std::string_view() : value.substr(at + reserved.size());
    bool ends_word = at != std::string_view::npos && (rest.empty() || rest.find_first_of(" =,") == 0);
    if (starts_word && ends_word) {
      refuse(option, "it changes what the assembler reads or writes; leave it out");
    }
  }
}

/// The caller's options, each in one spelling.
struct Canonical {
  std::vector<std::string> options;
  bool has_standard = false;
};

Canonical canonical(const std::vector<std::string>& options) {
  Canonical result;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& text = options[i];
    if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; })) {
      throw Error(ErrorCode::invalid_argument,
                  "option " + quote(text) + " holds a control character: give each option on its own, as plain text");
    }
    Given given = take_apart(text);
    const KnownOption* known = find_option(given.name);
    if (known == nullptr) {
      // A newer compiler may know it; one that does not names it in its log.
      result.options.push_back(text);
      continue;
    }
    if (!known->remedy.empty()) {
      refuse(text, known->remedy);
    }
    if (known->takes_value && !given.has_value) {
      if (i + 1 == options.size()) {
        throw Error(ErrorCode::invalid_argument, "option " + quote(text) + " takes a value and none follows");
      }
      given.value = options[++i];
    }
    result.has_standard = result.has_standard || known->name == "--std";
    if (known->name == "--ptxas-options") {
      check_ptxas(text, given.value);
    }
    bool with_value = known->takes_value || given.has_value;
    result.options.push_back(with_value ? std::string(known->name) + "=" + std::string(given.value)
                                        : std::string(known->name));
  }
  return result;
}

}  // namespace

void check_options(const std::vector<std::string>& options) { canonical(options); }

CompileArguments compile_arguments(const Source& source, const Target& target) {
  CompileArguments arguments;
  // Quoted includes are also looked for in the current folder unless the compiler is told not to.
  arguments.keyed = {"--gpu-architecture=" + target.text(), "--no-source-include"};
  Canonical own = canonical(source.options);
  if (!own.has_standard) {
    arguments.keyed.emplace_back("--std=c++17");
  }
  arguments.keyed.insert(arguments.keyed.end(), own.options.begin(), own.options.end());
  // NVRTC's own cache swallows the log; the assembler's report is the only source for spills.
  arguments.serving = {"--no-cache", "--ptxas-options=--verbose"};
  return arguments;
}

}  // namespace kiln::jit
